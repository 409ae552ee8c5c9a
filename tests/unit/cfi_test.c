#include "sampler/capture/cfi/cfi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

/* .eh_frame bytes put together by hand: a CIE "zR" (pcrel, sdata4; code 1, data -8, CFA = sp + 8,
 * return address at CFA - 8) and one FDE with the given instructions. x86-64 numbers. */
struct frame_bytes {
    uint8_t bytes[256];
    uint32_t size, fde_at;
};

enum { VADDR = 0x10000, FUNCTION = 0x12340, LENGTH = 0x100 };

static void put(struct frame_bytes *frame, const void *bytes, uint32_t size)
{
    memcpy(frame->bytes + frame->size, bytes, size);
    frame->size += size;
}

static void put_u32(struct frame_bytes *frame, uint32_t value)
{
    put(frame, &value, sizeof value);
}

static struct frame_bytes frame_with(const uint8_t *instructions, uint32_t size)
{
    static const uint8_t cie[] = { 1,    'z',  'R', 0, 1,         0x78, 16, 1,
                                   0x1b, 0x0c, 7,   8, 0x80 | 16, 1,    0,  0 };
    struct frame_bytes frame = { .size = 0 };

    put_u32(&frame, sizeof cie + 4);
    put_u32(&frame, 0);
    put(&frame, cie, sizeof cie);
    frame.fde_at = frame.size;
    put_u32(&frame, 4 + 4 + 4 + 1 + size);
    put_u32(&frame, frame.size);                      /* back to the CIE, from here */
    put_u32(&frame, FUNCTION - (VADDR + frame.size)); /* pc, relative to here */
    put_u32(&frame, LENGTH);
    put(&frame, "", 1);
    put(&frame, instructions, size);
    put_u32(&frame, 0);
    return frame;
}

static struct cfi_bytes bytes_of(const struct frame_bytes *frame)
{
    return (struct cfi_bytes){ frame->bytes, frame->size, VADDR };
}

#define ROWS_OF(program, ...)                                                                      \
    static const uint8_t instructions[] = { __VA_ARGS__ };                                         \
    struct frame_bytes frame = frame_with(instructions, sizeof instructions);                      \
    struct cfi_bytes bytes = bytes_of(&frame);                                                     \
    struct cfi_program program;                                                                    \
    struct cfi_rule rule;                                                                          \
    uint64_t from;                                                                                 \
    (void)state;                                                                                   \
    assert_true(cfi_program_at(&program, &bytes, frame.fde_at))

static void a_prologue_gives_a_row_for_each_step(void **state)
{
    /* push rbp: CFA sp+16, rbp at CFA-16; mov rbp, rsp: CFA rbp+16; leave: CFA sp+8 */
    ROWS_OF(program, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x50, 0x0c, 7, 8);

    assert_int_equal(program.start, FUNCTION);
    assert_int_equal(program.end, FUNCTION + LENGTH);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(from, FUNCTION);
    assert_int_equal(rule.cfa_reg, ARCH_SP);
    assert_int_equal(rule.cfa_offset, 8);
    assert_int_equal(rule.fp, CFI_SAME);
    assert_int_equal(rule.ra_offset, -8);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(from, FUNCTION + 1);
    assert_int_equal(rule.cfa_offset, 16);
    assert_int_equal(rule.fp, CFI_AT_CFA);
    assert_int_equal(rule.fp_offset, -16);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(from, FUNCTION + 4);
    assert_int_equal(rule.cfa_reg, ARCH_FP);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(from, FUNCTION + 4 + 0x50);
    assert_int_equal(rule.cfa_reg, ARCH_SP);
    assert_false(cfi_next_row(&program, &from, &rule));
}

static void a_remembered_state_comes_back(void **state)
{
    ROWS_OF(program, 0x41, 0x0e, 32, 0x0a, 0x41, 0x0e, 8, 0x41, 0x0b);

    for (int row = 0; row < 4; row++)
        assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa_offset, 32);
}

static void an_undefined_return_address_is_the_first_frame(void **state)
{
    ROWS_OF(program, 0x07, 16);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.ra, CFI_UNDEFINED);
}

static void a_realigned_stack_is_followed(void **state)
{
    /* CFA = *(rbp - 8); rbp saved at *(rbp + 0) */
    ROWS_OF(program, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_DEREF);
    assert_int_equal(rule.cfa_reg, ARCH_FP);
    assert_int_equal(rule.cfa_offset, -8);
    assert_int_equal(rule.fp, CFI_AT_REG);
    assert_int_equal(rule.fp_reg, ARCH_FP);
    assert_int_equal(rule.fp_offset, 0);
}

/* As the loader's _dl_runtime_resolve: push rbx, mov rbx to rsp, and the CFA is by rbx. */
static void a_frame_behind_a_frame_pointer_that_was_saved_is_followed(void **state)
{
    /* CFA = *(rbp + 0) + 16, as SBCL says it */
    ROWS_OF(program, 0x0f, 5, 0x76, 0, 0x06, 0x40, 0x22);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_DEREF);
    assert_int_equal(rule.cfa_reg, ARCH_FP);
    assert_int_equal(rule.cfa_add, 16);
}

static void the_third_registers_place_is_known(void **state)
{
    ROWS_OF(program, 0x41, 0x0e, 16, 0x83, 2, 0x43, 0x0d, 3, 0x41, 0xc3);

    for (int row = 0; row < 2; row++)
        assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.third, CFI_AT_CFA);
    assert_int_equal(rule.third_offset, -16);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa_reg, ARCH_THIRD);
    assert_int_equal(rule.cfa_offset, 16);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.third, CFI_SAME);
}

static void the_plt_expression_is_known(void **state)
{
    ROWS_OF(program, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_PLT);
    assert_int_equal(rule.cfa_offset, 8);
    assert_int_equal(rule.cfa_add, 11);
}

static void another_expression_is_unsupported_not_guessed(void **state)
{
    ROWS_OF(program, 0x0f, 4, 0x77, 8, 0x12, 0x22);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_UNSUPPORTED);
}

static void an_offset_that_no_stack_has_room_for_harms_nothing(void **state)
{
    /* offset_extended: rbp at CFA - 8 * 2^63 */
    ROWS_OF(program, 0x05, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa_offset, 8);
    assert_int_equal(rule.ra_offset, -8);
}

static void an_unknown_instruction_ends_what_is_believed(void **state)
{
    ROWS_OF(program, 0x41, 0x3c, 0x41, 0x0e, 64);

    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_REG);
    assert_true(cfi_next_row(&program, &from, &rule));
    assert_int_equal(rule.cfa, CFI_CFA_UNSUPPORTED);
}

/* Every cut of a good record: refused or read, never past the end (the sanitizer watches). */
static void cut_bytes_are_refused(void **state)
{
    ROWS_OF(program, 0x41, 0x0e, 16, 0x86, 2);

    for (uint32_t size = 0; size < frame.size; size++) {
        uint8_t exact[256];
        struct cfi_bytes cut = { exact + sizeof exact - size, size, VADDR };

        memcpy(exact + sizeof exact - size, frame.bytes, size);
        if (cfi_program_at(&program, &cut, frame.fde_at))
            while (cfi_next_row(&program, &from, &rule))
                ;
    }
}

static void a_cie_is_no_function(void **state)
{
    ROWS_OF(program, 0x00);

    assert_false(cfi_program_at(&program, &bytes, 0));
    assert_false(cfi_program_at(&program, &bytes, 1 << 20));
    (void)from;
    (void)rule;
}

static void the_header_leads_to_eh_frame_and_its_table(void **state)
{
    uint8_t bytes[20] = { 1, 0x1b, 0x03, 0x3b };
    struct cfi_bytes header_bytes = { bytes, sizeof bytes, 0x5000 };
    int32_t words[4] = { 0x100 - 4, 1, 0x40, 0x120 };
    struct cfi_header header;

    (void)state;
    memcpy(bytes + 4, words, sizeof words);
    assert_true(cfi_header_read(&header, &header_bytes));
    assert_int_equal(header.eh_frame_vaddr, 0x5100);
    assert_int_equal(header.fde_count, 1);
    assert_int_equal(cfi_header_fde_vaddr(&header, 0), 0x5120);
    words[1] = 1000; /* more than there are */
    memcpy(bytes + 4, words, sizeof words);
    assert_true(cfi_header_read(&header, &header_bytes));
    assert_int_equal(header.fde_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prologue_gives_a_row_for_each_step),
        cmocka_unit_test(a_remembered_state_comes_back),
        cmocka_unit_test(an_undefined_return_address_is_the_first_frame),
        cmocka_unit_test(a_realigned_stack_is_followed),
        cmocka_unit_test(a_frame_behind_a_frame_pointer_that_was_saved_is_followed),
        cmocka_unit_test(the_third_registers_place_is_known),
        cmocka_unit_test(the_plt_expression_is_known),
        cmocka_unit_test(another_expression_is_unsupported_not_guessed),
        cmocka_unit_test(an_offset_that_no_stack_has_room_for_harms_nothing),
        cmocka_unit_test(an_unknown_instruction_ends_what_is_believed),
        cmocka_unit_test(cut_bytes_are_refused),
        cmocka_unit_test(a_cie_is_no_function),
        cmocka_unit_test(the_header_leads_to_eh_frame_and_its_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
