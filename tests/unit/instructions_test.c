#include "sampler/profile/symbols/instructions.h"

#include "fake_module.h"
#include "sampler/feed/cleanup.h"
#include "skip_because.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A file that is one segment of code, at 0x1000 in memory. */
struct code_file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t code[64];
};

static void write_code(uint16_t machine, const void *code, size_t bytes)
{
    struct code_file image = {
        .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                 EV_CURRENT },
                    .e_type = ET_DYN,
                    .e_machine = machine,
                    .e_version = EV_CURRENT,
                    .e_ehsize = sizeof(Elf64_Ehdr),
                    .e_phoff = offsetof(struct code_file, segment),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1 },
        .segment = { .p_type = PT_LOAD,
                     .p_flags = PF_R | PF_X,
                     .p_offset = offsetof(struct code_file, code),
                     .p_vaddr = 0x1000,
                     .p_filesz = bytes,
                     .p_memsz = bytes },
    };
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    memcpy(image.code, code, bytes);
    fwrite(&image, sizeof(image), 1, file);
    fclose(file);
}

static struct instructions *opened(const char **reason)
{
    return instructions_open(&(struct module_file){ .path = path }, reason);
}

/* Of code that is there from 0x1000 on. */
static struct instructions *instructions_of(uint16_t machine, const void *code, size_t bytes)
{
    struct instructions *instructions;
    const char *reason;

    write_code(machine, code, bytes);
    instructions = opened(&reason);
#ifdef ISOSCOPE_CAPSTONE
    assert_non_null(instructions);
#else
    if (!instructions)
        skip_because(reason);
#endif
    assert_true(instructions_seek(instructions, (struct code_part){ 0x1000, 0x1000 + bytes }));
    return instructions;
}

static void expect(struct instructions *instructions, uint64_t offset, const char *text,
                   uint64_t target)
{
    struct instruction found;
    char whole[200];

    assert_true(instructions_next(instructions, &found));
    snprintf(whole, sizeof(whole), "%s %s", found.mnemonic, found.operands);
    assert_string_equal(whole, text);
    assert_int_equal(found.offset, offset);
    assert_int_equal(found.target, target);
}

static void expect_end(struct instructions *instructions)
{
    struct instruction found;

    assert_false(instructions_next(instructions, &found));
}

static void x86_is_written_as_intel_does_and_jumps_say_where_to(void **state)
{
    static const uint8_t code[] = { 0x48, 0x89, 0xe5, 0xe8, 0xf8, 0x0f, 0,
                                    0,    0x75, 0xf6, 0xff, 0xd0, 0xc3 };
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_of(EM_X86_64, code, sizeof(code));

    (void)state;
    expect(instructions, 0x1000, "mov rbp, rsp", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x1003, "call 0x2000", 0x2000);
    expect(instructions, 0x1008, "jne 0x1000", 0x1000);
    expect(instructions, 0x100a, "call rax", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x100c, "ret ", INSTRUCTION_NO_TARGET);
    expect_end(instructions);
}

static void aarch64_code_is_read_on_any_machine(void **state)
{
    static const uint32_t code[] = { 0xd10043ff,   /* sub sp, sp, #16 */
                                     0x94000400,   /* bl +0x1000 */
                                     0xb5ffffc1,   /* cbnz x1, -8 */
                                     0x36180040,   /* tbz w0, #3, +8 */
                                     0x54000041,   /* b.ne +8 */
                                     0x17fffffb,   /* b -20 */
                                     0xd63f0020,   /* blr x1 */
                                     0xd65f03c0 }; /* ret */
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_of(EM_AARCH64, code, sizeof(code));

    (void)state;
    expect(instructions, 0x1000, "sub sp, sp, #0x10", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x1004, "bl #0x2004", 0x2004);
    expect(instructions, 0x1008, "cbnz x1, #0x1000", 0x1000);
    expect(instructions, 0x100c, "tbz w0, #3, #0x1014", 0x1014);
    expect(instructions, 0x1010, "b.ne #0x1018", 0x1018);
    expect(instructions, 0x1014, "b #0x1000", 0x1000);
    expect(instructions, 0x1018, "blr x1", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x101c, "ret ", INSTRUCTION_NO_TARGET);
    expect_end(instructions);
}

static void bytes_that_are_no_instruction_do_not_end_the_listing(void **state)
{
    static const uint8_t code[] = { 0x06, 0x90, 0xe8, 0x01 };
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_of(EM_X86_64, code, sizeof(code));
    struct instruction found;
    size_t bytes = 0;

    (void)state;
    expect(instructions, 0x1000, ".byte 0x06", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x1001, "nop ", INSTRUCTION_NO_TARGET);
    while (instructions_next(instructions, &found))
        bytes += found.size;
    assert_int_equal(bytes, 2); /* a call that is cut off */
}

static void a_part_begins_where_it_is_asked_for_and_ends_with_the_segment(void **state)
{
    static const uint8_t code[] = { 0x90, 0x90, 0xc3 };
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_of(EM_X86_64, code, sizeof(code));

    (void)state;
    assert_true(instructions_seek(instructions, (struct code_part){ 0x1001, UINT64_MAX }));
    expect(instructions, 0x1001, "nop ", INSTRUCTION_NO_TARGET);
    expect(instructions, 0x1002, "ret ", INSTRUCTION_NO_TARGET);
    expect_end(instructions);
    assert_false(instructions_seek(instructions, (struct code_part){ 0x1003, 0x1004 }));
    assert_false(instructions_seek(instructions, (struct code_part){ 0xfff, 0x1001 }));
    assert_false(instructions_seek(instructions, (struct code_part){ 0x1002, 0x1001 }));
}

static void other_processors_and_files_that_are_gone_have_a_reason(void **state)
{
    const char *reason;

    (void)state;
    write_code(EM_RISCV, "", 1);
    assert_null(opened(&reason));
#ifdef ISOSCOPE_CAPSTONE
    assert_string_equal(reason, "its code is of a processor that isoscope does not disassemble");
#else
    assert_string_equal(reason, "this isoscope was built without capstone (libcapstone-dev)");
#endif
    unlink(path);
    assert_null(opened(&reason));
    assert_string_equal(reason, "no such file");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(x86_is_written_as_intel_does_and_jumps_say_where_to,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(aarch64_code_is_read_on_any_machine, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_instruction_do_not_end_the_listing,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(
            a_part_begins_where_it_is_asked_for_and_ends_with_the_segment, make_directory,
            remove_directory),
        cmocka_unit_test_setup_teardown(other_processors_and_files_that_are_gone_have_a_reason,
                                        make_directory, remove_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
