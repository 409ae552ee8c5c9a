#include "shared_tables.h"

#include "../../feed/own_area.h"
#include "../../feed/sys.h"
#include "../system/pages.h"

#include <fcntl.h>

enum { FIRST_BYTES = 4096 }; /* the kernel maps the rest of the page too */

bool shared_tables_open(struct shared_tables *tables, const char *path)
{
    long fd, map;

    if (tables->first_page)
        return true;
    fd = sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
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
