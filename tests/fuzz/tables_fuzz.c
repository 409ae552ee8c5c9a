/*
 * tables_fuzz.c - any bytes as a module's file: its unwind table, by libFuzzer.
 *
 * The table is searched in the tick handler, which believes it. So what is built is looked over as
 * a whole, whatever the file says.
 */
#include "sampler/profile/unwinding/table_source.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_UPS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void look_over_rows(const struct unwind_table *table)
{
    const struct unwind_row *rows = unwind_table_rows(table);

    if (!table->row_count || table->start >= table->end || rows[0].pc)
        abort();
    for (uint32_t row = 0; row < table->row_count; row++) {
        if (row && rows[row].pc <= rows[row - 1].pc)
            abort();
        if (ROW_KIND(&rows[row]) == ROW_RULE && ROW_VALUE(&rows[row]) >= table->rule_count)
            abort();
    }
}

static void look_up(const struct unwind_table *table)
{
    uint64_t step = (table->end - table->start) / LOOK_UPS + 1;
    const struct unwind_row *row;

    for (uint64_t vaddr = table->start; vaddr < table->end && vaddr >= table->start;
         vaddr += step) {
        row = unwind_table_find(table, vaddr);
        if (!row || row->pc > vaddr - table->start)
            abort();
    }
    if (unwind_table_find(table, table->end) || unwind_table_find(table, table->start - 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static int fd = -1;
    char path[PATH_MAX];
    const struct module_file module = { .path = path };
    struct unwind_table *table = NULL;
    bool stripped_go;

    if (fd < 0)
        fd = memfd_create("module", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, bytes, count, 0) != (ssize_t)count)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (table_source_build(&module, &table, &stripped_go) && table) {
        look_over_rows(table);
        look_up(table);
    }
    free(table);
    return 0;
}
