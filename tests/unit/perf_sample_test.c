/* Samples of perf's, taken apart: each part where its event asked for it, and nothing beyond the record. */
#include "sampler/remote/perf/perf_sample.h"

#include "sampler/remote/perf/perf_registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 64 };

struct fake_record {
    struct perf_event_header head;
    uint64_t words[WORDS_MAX];
};

static void put(struct fake_record *record, uint64_t word)
{
    size_t count = (record->head.size - sizeof(record->head)) / sizeof(word);

    assert_true(count < WORDS_MAX);
    record->words[count] = word;
    record->head.size += sizeof(word);
}

/* Of thread 7 of process 5. */
static struct fake_record begin(void)
{
    struct fake_record record = { .head = { .type = PERF_RECORD_SAMPLE,
                                            .size = sizeof(record.head) } };

    put(&record, UINT64_C(7) << 32 | 5);
    put(&record, 1234);
    return record;
}

static void put_user(struct fake_record *record, uint64_t stack_words, uint64_t good_bytes)
{
    put(record, 2);
    for (uint64_t i = 0; i < PERF_REGISTERS; i++)
        put(record, i);
    put(record, stack_words * 8);
    for (uint64_t i = 0; i < stack_words; i++)
        put(record, 0x1000 + i);
    put(record, good_bytes);
}

static const struct perf_wish plain = { .stack_bytes = 32 };
static const struct perf_wish with_kernel = { .stack_bytes = 32, .kernel = true };

static void a_sample_has_registers_and_the_good_part_of_the_stack(void **state)
{
    struct fake_record record = begin();
    struct perf_sample sample;

    (void)state;
    put_user(&record, 4, 20);
    assert_true(perf_sample_read(&record.head, &plain, &sample));
    assert_int_equal(sample.head->pid, 5);
    assert_int_equal(sample.head->tid, 7);
    assert_int_equal(sample.head->at_ns, 1234);
    assert_int_equal(sample.registers[3], 3);
    assert_int_equal(sample.stack_bytes, 16);
    assert_int_equal(((const uint64_t *)sample.stack)[1], 0x1001);
    assert_int_equal(sample.kernel_count, 0);
}

static void the_kernels_addresses_stand_between_marks(void **state)
{
    struct fake_record record = begin();
    struct perf_sample sample;

    (void)state;
    put(&record, 4);
    put(&record, (uint64_t)PERF_CONTEXT_KERNEL);
    put(&record, 0xffffffff81000010);
    put(&record, 0xffffffff81000020);
    put(&record, (uint64_t)PERF_CONTEXT_USER);
    put_user(&record, 4, 32);
    assert_true(perf_sample_read(&record.head, &with_kernel, &sample));
    assert_int_equal(sample.kernel_count, 2);
    assert_int_equal(sample.kernel[1], 0xffffffff81000020);
    assert_int_equal(sample.stack_bytes, 32);
}

static void in_user_mode_there_are_none(void **state)
{
    struct fake_record record = begin();
    struct perf_sample sample;

    (void)state;
    put(&record, 0);
    put_user(&record, 4, 32);
    assert_true(perf_sample_read(&record.head, &with_kernel, &sample));
    assert_int_equal(sample.kernel_count, 0);
    assert_non_null(sample.registers);
}

static void a_thread_of_the_kernels_has_no_registers(void **state)
{
    struct fake_record record = begin();
    struct perf_sample sample;

    (void)state;
    put(&record, 2);
    put(&record, (uint64_t)PERF_CONTEXT_KERNEL);
    put(&record, 0xffffffff81000010);
    put(&record, 0);
    put(&record, 0);
    assert_true(perf_sample_read(&record.head, &with_kernel, &sample));
    assert_int_equal(sample.kernel_count, 1);
    assert_null(sample.registers);
}

static void a_tracepoints_data_stands_before_the_registers(void **state)
{
    const struct perf_wish wish = { .stack_bytes = 32, .tracepoint = 9, .kernel = true };
    struct fake_record record = begin();
    struct perf_sample sample;

    (void)state;
    put(&record, 0);
    put(&record, UINT64_C(0x55667788) << 32 | 12); /* size, and 12 bytes from there on */
    put(&record, 0x99);
    put_user(&record, 4, 32);
    assert_true(perf_sample_read(&record.head, &wish, &sample));
    assert_int_equal(sample.raw_bytes, 12);
    assert_int_equal(sample.raw[0], 0x88);
    assert_int_equal(sample.registers[3], 3);
}

/* Whatever a word says of a length. */
static void nothing_is_read_beyond_the_record(void **state)
{
    struct fake_record whole = begin();
    struct perf_sample sample;

    (void)state;
    put(&whole, 2);
    put(&whole, (uint64_t)PERF_CONTEXT_KERNEL);
    put(&whole, 0xffffffff81000010);
    put_user(&whole, 4, 32);
    whole.head.size -= sizeof(uint64_t); /* without what is good, all is */
    assert_true(perf_sample_read(&whole.head, &with_kernel, &sample));
    while (whole.head.size > sizeof(whole.head)) {
        whole.head.size -= sizeof(uint64_t);
        assert_false(perf_sample_read(&whole.head, &with_kernel, &sample));
    }
    whole = begin();
    put(&whole, UINT64_MAX);
    put_user(&whole, 4, 32);
    assert_false(perf_sample_read(&whole.head, &with_kernel, &sample));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_has_registers_and_the_good_part_of_the_stack),
        cmocka_unit_test(the_kernels_addresses_stand_between_marks),
        cmocka_unit_test(in_user_mode_there_are_none),
        cmocka_unit_test(a_thread_of_the_kernels_has_no_registers),
        cmocka_unit_test(a_tracepoints_data_stands_before_the_registers),
        cmocka_unit_test(nothing_is_read_beyond_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
