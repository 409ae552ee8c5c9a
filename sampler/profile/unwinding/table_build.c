#include "table_build.h"

#include "../../capture/system/arch.h"
#include "../../capture/system/pages.h"

#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = ROW_VALUE_MAX, FDE_BYTES_MIN = 12 };

struct build {
    struct unwind_row *rows;
    struct cfi_rule *rules;
    uint32_t row_count, rule_count;
    uint32_t rows_max;
    uint64_t start, end; /* of the code seen so far */
};

static bool same_rule(const struct cfi_rule *a, const struct cfi_rule *b)
{
    return !memcmp(a, b, sizeof *a);
}

/* The same few rules come again and again: in a PLT, in a library's assembly. */
static uint32_t rule_index(struct build *build, const struct cfi_rule *rule)
{
    for (uint32_t back = 1; back <= build->rule_count && back <= 64; back++)
        if (same_rule(&build->rules[build->rule_count - back], rule))
            return build->rule_count - back;
    if (build->rule_count == RULES_MAX)
        return RULES_MAX;
    build->rules[build->rule_count] = *rule;
    return build->rule_count++;
}

static bool fits_row(int32_t offset, int32_t limit)
{
    return offset % 8 == 0 && offset / 8 >= 0 && offset / 8 <= limit;
}

/* Where a plain row says the return address is: under the CFA on x86-64, beside the frame pointer
 * on aarch64. */
static bool plain_return_address(const struct cfi_rule *rule)
{
#ifdef __aarch64__
    if (rule->fp == CFI_SAME)
        return rule->ra == CFI_SAME;
    return rule->fp == CFI_AT_CFA && rule->ra == CFI_AT_CFA &&
           rule->ra_offset == rule->fp_offset + 8;
#else
    return rule->ra == CFI_AT_CFA && rule->ra_offset == ARCH_RA_OFFSET;
#endif
}

/* Of the frame pointer or the third register. False: a row cannot say it. */
static bool plain_place(uint8_t place, int32_t offset, int8_t *out)
{
    *out = 0;
    if (place == CFI_UNDEFINED || place == CFI_UNSUPPORTED)
        *out = ROW_LOST;
    else if (place == CFI_AT_CFA && offset && offset % 8 == 0 && offset / 8 > INT8_MIN &&
             offset / 8 <= INT8_MAX)
        *out = (int8_t)(offset / 8);
    return *out || place == CFI_SAME;
}

/* Whether a row alone says it, but for its pc. */
static bool plain_row(const struct cfi_rule *rule, struct unwind_row *row)
{
    if (rule->cfa != CFI_CFA_REG || !fits_row(rule->cfa_offset, ROW_VALUE_MAX) ||
        !plain_return_address(rule))
        return false;
    if (rule->cfa_reg == ARCH_SP)
        row->cfa = ROW_CFA(ROW_SP, rule->cfa_offset / 8);
    else if (rule->cfa_reg == ARCH_FP)
        row->cfa = ROW_CFA(ROW_FP, rule->cfa_offset / 8);
    else
        return false;
    return plain_place(rule->fp, rule->fp_offset, &row->fp) &&
           plain_place(rule->third, rule->third_offset, &row->third);
}

static struct unwind_row end_row(enum row_end end)
{
    return (struct unwind_row){ .cfa = ROW_CFA(ROW_END, end) };
}

static struct unwind_row row_from_rule(struct build *build, const struct cfi_rule *rule,
                                       bool signal_frame)
{
    struct unwind_row row = { 0 };
    uint32_t index;

    if (signal_frame)
        return end_row(ROW_END_SIGNAL);
    if (rule->ra == CFI_UNDEFINED)
        return end_row(ROW_END_ROOT);
    if (rule->cfa == CFI_CFA_UNSUPPORTED || rule->ra == CFI_UNSUPPORTED)
        return end_row(ROW_END_UNSUPPORTED);
    if (plain_row(rule, &row))
        return row;
    index = rule_index(build, rule);
    return index < RULES_MAX ? (struct unwind_row){ .cfa = ROW_CFA(ROW_RULE, index) }
                             : end_row(ROW_END_UNSUPPORTED);
}

static void add_row(struct build *build, uint64_t vaddr, struct unwind_row row)
{
    struct unwind_row *last = build->row_count ? &build->rows[build->row_count - 1] : NULL;
    uint64_t pc = vaddr - build->start;

    if (build->row_count == build->rows_max || vaddr < build->start || pc > UINT32_MAX ||
        (last && pc < last->pc))
        return;
    if (last && last->cfa == row.cfa && last->fp == row.fp && last->third == row.third)
        return; /* it says nothing new */
    row.pc = (uint32_t)pc;
    if (last && last->pc == pc)
        *last = row;
    else
        build->rows[build->row_count++] = row;
}

/* False: the function's rules hold. */
static bool go_mark(const struct go_frames *go, uint64_t start, enum row_end *out)
{
    for (uint32_t i = 0; i < go->mark_count; i++)
        if (go->marks[i].start == start) {
            *out = go->marks[i].end;
            return true;
        }
    return false;
}

/* Go does not say where its code saves the frame pointer: below the return address, where a frame
 * was set up. */
static void complete_go_rule(struct cfi_rule *rule)
{
    if (rule->cfa != CFI_CFA_REG || rule->cfa_reg != ARCH_SP || rule->cfa_offset < 16 ||
        rule->fp != CFI_SAME)
        return;
    rule->fp = CFI_AT_CFA;
    rule->fp_offset = -16;
}

/* go: NULL, or the rules are of Go's code. */
static void add_function(struct build *build, struct cfi_program *program,
                         const struct go_frames *go)
{
    struct cfi_rule rule;
    enum row_end end;
    uint64_t from;

    if (!build->row_count) {
        build->start = program->start;
    } else if (program->start > build->end) {
        add_row(build, build->end, end_row(ROW_END_NO_ROW));
    }
    if (go && go_mark(go, program->start, &end))
        add_row(build, program->start, end_row(end));
    else
        while (cfi_next_row(program, &from, &rule)) {
            if (go)
                complete_go_rule(&rule);
            add_row(build, from, row_from_rule(build, &rule, program->signal_frame));
        }
    if (program->end > build->end)
        build->end = program->end;
}

static void build_by_header(struct build *build, const struct cfi_header *header,
                            const struct cfi_bytes *eh_frame)
{
    struct cfi_program program;

    for (uint64_t index = 0; index < header->fde_count; index++) {
        uint64_t offset = cfi_header_fde_vaddr(header, index) - eh_frame->vaddr;

        if (cfi_program_at(&program, eh_frame, offset))
            add_function(build, &program, NULL);
    }
}

struct fde {
    uint64_t start, offset;
    bool go;
};

/* Shell sort: short, no recursion, no allocation; only for the rare module without a table, and for
 * Go's. */
static void sort_fdes(struct fde *fdes, uint32_t count)
{
    for (uint32_t gap = count / 2; gap; gap /= 2) {
        for (uint32_t i = gap; i < count; i++) {
            struct fde moving = fdes[i];
            uint32_t j = i;

            for (; j >= gap && fdes[j - gap].start > moving.start; j -= gap)
                fdes[j] = fdes[j - gap];
            fdes[j] = moving;
        }
    }
}

static uint32_t walk_frames(const struct cfi_bytes *frames, struct fde *out, uint64_t max, bool go)
{
    struct cfi_program program;
    uint64_t offset = 0, record = 0;
    uint32_t count = 0;

    while (count < max && cfi_next_record(frames, &offset)) {
        if (cfi_program_at(&program, frames, record))
            out[count++] = (struct fde){ program.start, record, go };
        record = offset;
    }
    return count;
}

/* go: NULL, or what to take beside. */
static void build_by_walk(struct build *build, const struct cfi_bytes *eh_frame,
                          const struct go_frames *go)
{
    const struct cfi_bytes more = { go ? go->bytes : NULL, go ? go->size : 0, 0 };
    uint64_t fdes_max = (eh_frame->size + more.size) / FDE_BYTES_MIN + 1;
    struct fde *fdes = pages_new(fdes_max * sizeof *fdes);
    struct cfi_program program;
    uint32_t count;

    if (!fdes)
        return;
    count = walk_frames(eh_frame, fdes, fdes_max, false);
    if (go)
        count += walk_frames(&more, fdes + count, fdes_max - count, true);
    sort_fdes(fdes, count);
    for (uint32_t i = 0; i < count; i++)
        if (cfi_program_at(&program, fdes[i].go ? &more : eh_frame, fdes[i].offset))
            add_function(build, &program, fdes[i].go ? go : NULL);
    pages_free(fdes, fdes_max * sizeof *fdes);
}

static uint32_t bucket_count(const struct build *build)
{
    return (uint32_t)((build->end - build->start) >> ROW_BUCKET_BITS) + 2;
}

static void fill_buckets(struct unwind_table *table, uint32_t buckets)
{
    const struct unwind_row *rows = unwind_table_rows(table);
    uint32_t *out = (uint32_t *)((uint8_t *)table + table->buckets_at);
    uint32_t row = 0;

    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        uint64_t pc = (uint64_t)bucket << ROW_BUCKET_BITS;

        while (row + 1 < table->row_count && rows[row + 1].pc <= pc)
            row++;
        out[bucket] = row;
    }
}

/* One piece of exactly the size needed: table, rules, rows, buckets. */
static struct unwind_table *pack(const struct build *build)
{
    uint32_t buckets = bucket_count(build);
    size_t rules_bytes = build->rule_count * sizeof(struct cfi_rule);
    size_t rows_bytes = build->row_count * sizeof(struct unwind_row);
    struct unwind_table head = {
        .start = build->start,
        .end = build->end,
        .row_count = build->row_count,
        .rule_count = build->rule_count,
        .rules_at = sizeof head,
    };
    struct unwind_table *table;

    head.rows_at = (head.rules_at + rules_bytes + 7) & ~UINT64_C(7);
    head.buckets_at = head.rows_at + rows_bytes;
    head.bytes = head.buckets_at + buckets * sizeof(uint32_t);
    table = calloc(1, head.bytes);
    if (!table)
        return NULL;
    *table = head;
    memcpy((uint8_t *)table + head.rules_at, build->rules, rules_bytes);
    memcpy((uint8_t *)table + head.rows_at, build->rows, rows_bytes);
    fill_buckets(table, buckets);
    return table;
}

struct unwind_table *table_build(const struct cfi_header *header, const struct cfi_bytes *eh_frame,
                                 const struct go_frames *go)
{
    /* A row takes an instruction of at least one byte; scratch is only touched as far as it is
     * used. */
    uint64_t bytes = eh_frame->size + (go ? go->size : 0);
    uint64_t rows_max = bytes < UINT32_MAX - 16 ? bytes + 16 : UINT32_MAX;
    struct build build = {
        .rows = pages_new(rows_max * sizeof *build.rows),
        .rules = pages_new(RULES_MAX * sizeof *build.rules),
        .rows_max = (uint32_t)rows_max,
    };
    struct unwind_table *table = NULL;

    if (build.rows && build.rules) {
        if (header->fde_count && !go)
            build_by_header(&build, header, eh_frame);
        else
            build_by_walk(&build, eh_frame, go);
        if (build.row_count && build.end > build.start && build.end - build.start <= UINT32_MAX)
            table = pack(&build);
    }
    pages_free(build.rows, rows_max * sizeof *build.rows);
    pages_free(build.rules, RULES_MAX * sizeof *build.rules);
    return table;
}
