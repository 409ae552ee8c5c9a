#include "perf_sample.h"

#include "perf_registers.h"

#include <string.h>

/* What is left of a record. */
struct rest {
    const uint8_t *at, *end;
};

/* NULL: there is less. */
static const void *take(struct rest *rest, uint64_t bytes)
{
    const uint8_t *at = rest->at;

    if (bytes > (uint64_t)(rest->end - at))
        return NULL;
    rest->at += bytes;
    return at;
}

static bool take_word(struct rest *rest, uint64_t *out)
{
    const uint64_t *word = take(rest, sizeof(*word));

    if (word)
        *out = *word;
    return word != NULL;
}

/* Addresses, and between them marks that say whose those are that follow. */
static bool take_kernel(struct rest *rest, struct perf_sample *out)
{
    uint64_t count;
    const uint64_t *chain;

    if (!take_word(rest, &count) || count > UINT16_MAX ||
        !(chain = take(rest, count * sizeof(*chain))))
        return false;
    if (count && chain[0] == (uint64_t)PERF_CONTEXT_KERNEL) {
        chain++;
        count--;
    }
    out->kernel = chain;
    while (out->kernel_count < count && chain[out->kernel_count] < (uint64_t)PERF_CONTEXT_MAX)
        out->kernel_count++;
    return true;
}

/* Up to a multiple of 8, with its size before it. */
static bool take_raw(struct rest *rest, struct perf_sample *out)
{
    const uint32_t *bytes = take(rest, sizeof(*bytes));

    if (!bytes)
        return false;
    out->raw_bytes = *bytes;
    out->raw = take(rest, *bytes);
    return out->raw != NULL;
}

/* A word behind it says how many bytes of it are good. */
static bool take_stack(struct rest *rest, struct perf_sample *out)
{
    uint64_t good = 0;

    if (!take_word(rest, &out->stack_bytes))
        return false;
    if (!out->stack_bytes)
        return true;
    out->stack = take(rest, out->stack_bytes);
    if (!out->stack)
        return false;
    if (take_word(rest, &good) && good < out->stack_bytes)
        out->stack_bytes = good & ~UINT64_C(7);
    return true;
}

static bool take_user(struct rest *rest, struct perf_sample *out)
{
    uint64_t abi;

    if (!take_word(rest, &abi))
        return false;
    if (abi) {
        out->registers = take(rest, PERF_REGISTERS * sizeof(uint64_t));
        if (!out->registers)
            return false;
    }
    return take_stack(rest, out);
}

bool perf_sample_read(const struct perf_event_header *record, const struct perf_wish *wish,
                      struct perf_sample *out)
{
    struct rest rest = { (const uint8_t *)(record + 1), (const uint8_t *)record + record->size };

    *out = (struct perf_sample){ .head = take(&rest, sizeof(*out->head)) };
    return out->head && (!wish->kernel || take_kernel(&rest, out)) &&
           (!wish->tracepoint || take_raw(&rest, out)) &&
           (!wish->stack_bytes || take_user(&rest, out));
}

struct target_sample perf_sample_target(const struct perf_sample *sample, ucontext_t *registers)
{
    memset(registers, 0, sizeof(*registers));
    perf_registers_take(sample->registers, registers);
    return (struct target_sample){ .tid = (pid_t)sample->head->tid,
                                   .at_ns = (int64_t)sample->head->at_ns,
                                   .kernel = sample->kernel,
                                   .kernel_count = (uint32_t)sample->kernel_count,
                                   .registers = registers,
                                   .stack = sample->stack,
                                   .stack_at = target_stack_pointer(registers),
                                   .stack_bytes = sample->stack_bytes };
}
