#include "shared_tables.h"

#include "../../feed/layout.h"
#include "../../feed/own_area.h"
#include "../../feed/sys.h"
#include "../system/pages.h"

#include <fcntl.h>
#include <string.h>

enum { FIRST_BYTES = 4096 }; /* the kernel maps the rest of the page too */

static SIGNAL_SAFE long open_file(const char *path)
{
    return sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
}

bool shared_tables_open(struct shared_tables *tables, const char *path)
{
    long fd, map;

    if (tables->first_page)
        return true;
    fd = open_file(path);
    if (fd < 0)
        return false;
    map =
        sys_call6(SYS_mmap, own_area_next(FIRST_BYTES), FIRST_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    sys_call1(SYS_close, fd);
    if (pages_failed(map))
        return false;
    tables->first_page = (const uint8_t *)map;
    return true;
}

bool shared_tables_are_still(const struct shared_tables *tables, const char *path)
{
    uint64_t open, there = 0;
    long fd, got;

    if (!tables->first_page)
        return false;
    fd = open_file(path);
    if (fd < 0)
        return false;
    got = sys_call4(SYS_pread64, fd, &there, sizeof there, FEED_TABLES_MARK_AT);
    sys_call1(SYS_close, fd);
    memcpy(&open, tables->first_page + FEED_TABLES_MARK_AT, sizeof open);
    return got == sizeof there && there && there == open;
}

void shared_tables_close(struct shared_tables *tables)
{
    pages_free((void *)tables->first_page, FIRST_BYTES);
    tables->first_page = NULL;
}

const struct unwind_table *shared_tables_map(const struct shared_tables *tables, uint64_t at,
                                             uint64_t bytes)
{
    long whole;

    if (!tables->first_page)
        return NULL;
    whole = own_area_remap(tables->first_page, 0, at + bytes);
    if (pages_failed(whole))
        return NULL;
    if (at)
        sys_call2(SYS_munmap, whole, (long)at);
    return (const struct unwind_table *)(whole + (long)at);
}
