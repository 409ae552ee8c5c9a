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

/* Whether a row alone says it; *cfa and *fp are what it says. */
static bool plain_row(const struct cfi_rule *rule, uint16_t *cfa, int16_t *fp)
{
    if (rule->cfa != CFI_CFA_REG || !fits_row(rule->cfa_offset, ROW_VALUE_MAX) ||
        !plain_return_address(rule))
        return false;
    if (rule->cfa_reg == ARCH_SP)
        *cfa = ROW_CFA(ROW_SP, rule->cfa_offset / 8);
    else if (rule->cfa_reg == ARCH_FP)
        *cfa = ROW_CFA(ROW_FP, rule->cfa_offset / 8);
    else
        return false;
    if (rule->fp == CFI_SAME)
        *fp = 0;
    else if (rule->fp == CFI_AT_CFA && rule->fp_offset && rule->fp_offset % 8 == 0 &&
             rule->fp_offset / 8 > INT16_MIN && rule->fp_offset / 8 <= INT16_MAX)
        *fp = (int16_t)(rule->fp_offset / 8);
    else if (rule->fp == CFI_UNDEFINED || rule->fp == CFI_UNSUPPORTED)
        *fp = ROW_FP_LOST;
    else
        return false;
    return true;
}

static void row_from_rule(struct build *build, const struct cfi_rule *rule, bool signal_frame,
                          uint16_t *cfa, int16_t *fp)
{
    uint32_t index;

    *fp = 0;
    if (signal_frame) {
        *cfa = ROW_CFA(ROW_END, ROW_END_SIGNAL);
    } else if (rule->ra == CFI_UNDEFINED) {
        *cfa = ROW_CFA(ROW_END, ROW_END_ROOT);
    } else if (rule->cfa == CFI_CFA_UNSUPPORTED || rule->ra == CFI_UNSUPPORTED) {
        *cfa = ROW_CFA(ROW_END, ROW_END_UNSUPPORTED);
    } else if (!plain_row(rule, cfa, fp)) {
        index = rule_index(build, rule);
        *cfa = index < RULES_MAX ? ROW_CFA(ROW_RULE, index) : ROW_CFA(ROW_END, ROW_END_UNSUPPORTED);
    }
}

static void add_row(struct build *build, uint64_t vaddr, uint16_t cfa, int16_t fp)
{
    struct unwind_row *last = build->row_count ? &build->rows[build->row_count - 1] : NULL;
    uint64_t pc = vaddr - build->start;

    if (build->row_count == build->rows_max || vaddr < build->start || pc > UINT32_MAX ||
        (last && pc < last->pc))
        return;
    if (last && last->cfa == cfa && last->fp == fp)
        return; /* it says nothing new */
    if (last && last->pc == pc) {
        last->cfa = cfa;
        last->fp = fp;
        return;
    }
    build->rows[build->row_count++] =
        (struct unwind_row){ .pc = (uint32_t)pc, .cfa = cfa, .fp = fp };
}

static void add_function(struct build *build, struct cfi_program *program)
{
    struct cfi_rule rule;
    uint64_t from;
    uint16_t cfa;
    int16_t fp;

    if (!build->row_count) {
        build->start = program->start;
    } else if (program->start > build->end) {
        add_row(build, build->end, ROW_CFA(ROW_END, ROW_END_NO_ROW), 0);
    }
    while (cfi_next_row(program, &from, &rule)) {
        row_from_rule(build, &rule, program->signal_frame, &cfa, &fp);
        add_row(build, from, cfa, fp);
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
            add_function(build, &program);
    }
}

struct fde {
    uint64_t start, offset;
};

/* Shell sort: short, no recursion, no allocation; only for the rare module without a table. */
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

static void build_by_walk(struct build *build, const struct cfi_bytes *eh_frame)
{
    uint64_t fdes_max = eh_frame->size / FDE_BYTES_MIN + 1;
    struct fde *fdes = pages_new(fdes_max * sizeof *fdes);
    struct cfi_program program;
    uint64_t offset = 0, record = 0;
    uint32_t count = 0;

    if (!fdes)
        return;
    while (count < fdes_max && cfi_next_record(eh_frame, &offset)) {
        if (cfi_program_at(&program, eh_frame, record))
            fdes[count++] = (struct fde){ program.start, record };
        record = offset;
    }
    sort_fdes(fdes, count);
    for (uint32_t i = 0; i < count; i++)
        if (cfi_program_at(&program, eh_frame, fdes[i].offset))
            add_function(build, &program);
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

struct unwind_table *table_build(const struct cfi_header *header, const struct cfi_bytes *eh_frame)
{
    /* A row takes an instruction of at least one byte; scratch is only touched as far as it is
     * used. */
    uint64_t rows_max = eh_frame->size < UINT32_MAX - 16 ? eh_frame->size + 16 : UINT32_MAX;
    struct build build = {
        .rows = pages_new(rows_max * sizeof *build.rows),
        .rules = pages_new(RULES_MAX * sizeof *build.rules),
        .rows_max = (uint32_t)rows_max,
    };
    struct unwind_table *table = NULL;

    if (build.rows && build.rules) {
        if (header->fde_count)
            build_by_header(&build, header, eh_frame);
        else
            build_by_walk(&build, eh_frame);
        if (build.row_count && build.end > build.start && build.end - build.start <= UINT32_MAX)
            table = pack(&build);
    }
    pages_free(build.rows, rows_max * sizeof *build.rows);
    pages_free(build.rules, RULES_MAX * sizeof *build.rules);
    return table;
}
