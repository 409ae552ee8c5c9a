/*
 * unwind_table.h - one module's unwind data as rows the tick handler can search.
 *
 *   service: profile/unwinding builds it, once for each build -> the tables' file
 *     -> shared_tables.h maps it -> unwind_table_find, in the handler
 *
 * A row is 8 bytes: from this pc on, where the CFA is and where the frame pointer and the third
 * register were saved. What does not fit a row is a rule in a side table. A table never changes
 * once it is built. It is one piece of memory without addresses in it, so it means the same in
 * every process.
 *
 * Units      vaddrs: the module's bias is not in them. *_at: bytes from the table's beginning.
 * Signals    All SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_UNWIND_TABLE_H
#define ISOSCOPE_UNWIND_TABLE_H

#include "../../feed/signal_safe.h"
#include "../cfi/cfi.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_row {
    uint32_t pc;  /* from the table's start */
    uint16_t cfa; /* low 2 bits: row_kind; the rest: its value */
    int8_t fp;    /* saved at CFA + 8 * fp; 0: still in the register; ROW_LOST */
    int8_t third; /* as fp */
};

enum row_kind {
    ROW_SP,   /* CFA = sp + 8 * value */
    ROW_FP,   /* CFA = fp + 8 * value */
    ROW_RULE, /* value: index into rules */
    ROW_END,  /* value: row_end */
};

enum row_end {
    ROW_END_ROOT,        /* no caller: the thread's first frame */
    ROW_END_NO_ROW,      /* no function known here */
    ROW_END_UNSUPPORTED, /* an expression we do not follow */
    ROW_END_SIGNAL,      /* the kernel's frame: the registers are in memory */
    ROW_END_SWITCH, /* it goes to another stack; its frame pointer leads back to its caller's */
};

enum { ROW_LOST = INT8_MIN, ROW_BUCKET_BITS = 9, ROW_VALUE_MAX = (1 << 14) - 1 };

#define ROW_CFA(kind, value) ((uint16_t)((unsigned)(value) << 2 | (unsigned)(kind)))
#define ROW_KIND(row)        ((row)->cfa & 3)
#define ROW_VALUE(row)       ((row)->cfa >> 2)

struct unwind_table {
    uint64_t start, end; /* vaddrs covered */
    uint32_t row_count;
    uint32_t rule_count;
    uint64_t rules_at, rows_at;
    uint64_t buckets_at; /* uint32_t for each 512 bytes of code: the last row up to their start */
    uint64_t bytes;      /* in all */
};

SIGNAL_SAFE_INLINE const struct unwind_row *unwind_table_rows(const struct unwind_table *table)
{
    return (const struct unwind_row *)((const uint8_t *)table + table->rows_at);
}

SIGNAL_SAFE_INLINE const struct cfi_rule *unwind_table_rules(const struct unwind_table *table)
{
    return (const struct cfi_rule *)((const uint8_t *)table + table->rules_at);
}

SIGNAL_SAFE_INLINE const uint32_t *unwind_table_buckets(const struct unwind_table *table)
{
    return (const uint32_t *)((const uint8_t *)table + table->buckets_at);
}

/* The row for vaddr; NULL when it lies outside the table. */
SIGNAL_SAFE const struct unwind_row *unwind_table_find(const struct unwind_table *table,
                                                       uint64_t vaddr);

#endif
