/* Call frame information and symbols of a file that says to be Go's, and may lie. */
#include "sampler/profile/unwinding/go_frames.h"

#include "fake_module.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* A CIE, and a function at FAKE_TEXT of 16 bytes. */
static const uint8_t frames_of_one[] = {
    12, 0,    0,  0,    0xff, 0xff, 0xff, 0xff, 3, 0,
    1,  0x7c, 16, 0x0c, 7,    8, /* CIE */
    20, 0,    0,  0,    0,    0,    0,    0,    0, FAKE_TEXT >> 8,
    0,  0,    0,  0,    0,    0, /* FDE: where */
    16, 0,    0,  0,    0,    0,    0,    0,
};

static struct fake_elf go_file(const uint8_t *debug_frame, size_t bytes)
{
    return (struct fake_elf){
        .symbols = { { "runtime.mcall", FAKE_TEXT, 16, STB_LOCAL, STT_FUNC } },
        .extra_name = ".debug_frame",
        .extra = debug_frame,
        .extra_bytes = bytes,
    };
}

/* Named as what all of Go's files have. */
static void name_section(struct fake_elf_image *image, int section, const char *name)
{
    uint32_t used = sizeof(image->names) - 64;

    image->sections[section] = (Elf64_Shdr){ FAKE_PART(link), .sh_type = SHT_PROGBITS };
    image->sections[section].sh_name = fake_elf_name(image, &used, name);
}

static enum go_found read_image(const struct fake_elf_image *image, const struct fake_elf *elf,
                                struct go_frames *out)
{
    FILE *stream = fopen(path, "wb");
    const char *why;

    fwrite(image, sizeof(*image), 1, stream);
    fwrite(elf->extra, elf->extra_bytes, 1, stream);
    fclose(stream);
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &why);
    assert_non_null(file);
    return go_frames_read(out, file);
}

static enum go_found read_named(const char *section, struct go_frames *out)
{
    const struct fake_elf elf = go_file(frames_of_one, sizeof(frames_of_one));
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    enum go_found found;

    fake_elf_fill(image, &elf);
    name_section(image, FAKE_LINK, section);
    found = read_image(image, &elf, out);
    free(image);
    return found;
}

static void a_go_programs_own_rules_and_stack_switches_are_read(void **state)
{
    struct go_frames frames = { 0 };

    (void)state;
    assert_int_equal(read_named(".gopclntab", &frames), GO_READ);
    assert_int_equal(frames.size, sizeof(frames_of_one));
    assert_int_equal(frames.mark_count, 1);
    assert_int_equal(frames.marks[0].start, FAKE_TEXT);
    assert_int_equal(frames.marks[0].end, ROW_END_SWITCH);
    go_frames_free(&frames);
    assert_int_equal(read_named(".go.buildinfo", &frames), GO_READ);
    go_frames_free(&frames);
    assert_int_equal(read_named(".other", &frames), GO_NONE);
}

/* More symbols than there are marks, in two tables. */
static void functions_of_one_name_without_end_are_no_more_than_there_is_room_for(void **state)
{
    const struct fake_elf elf = go_file(frames_of_one, sizeof(frames_of_one));
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    struct go_frames frames = { 0 };

    (void)state;
    fake_elf_fill(image, &elf);
    name_section(image, FAKE_LINK, ".gopclntab");
    for (int i = 2; i <= FAKE_SYMBOLS_MAX; i++)
        image->symbols[i] = image->symbols[1];
    image->sections[FAKE_SYMTAB].sh_size = sizeof(image->symbols);
    image->sections[FAKE_NOTE] = image->sections[FAKE_SYMTAB];
    image->sections[FAKE_NOTE].sh_type = SHT_DYNSYM;
    assert_int_equal(read_image(image, &elf, &frames), GO_READ);
    assert_int_equal(frames.mark_count, GO_MARKS_MAX);
    go_frames_free(&frames);
    free(image);
}

/* Every byte another one: lengths, and where a record's CIE lies. */
static void frames_that_lie_make_a_table_or_none(void **state)
{
    static const uint8_t lies[] = { 0, 1, 0x7f, 0x80, 0xf0, 0xff };
    uint8_t bytes[sizeof(frames_of_one)];
    const struct fake_elf elf = go_file(bytes, sizeof(bytes));
    const struct cfi_bytes none = { bytes, 0, 0 };
    const struct cfi_header header = { 0 };
    struct fake_elf_image *image = calloc(1, sizeof(*image));

    (void)state;
    fake_elf_fill(image, &elf);
    name_section(image, FAKE_LINK, ".gopclntab");
    for (size_t at = 0; at < sizeof(bytes); at++)
        for (size_t lie = 0; lie < sizeof(lies); lie++) {
            struct go_frames frames = { 0 };

            memcpy(bytes, frames_of_one, sizeof(bytes));
            bytes[at] = lies[lie];
            assert_int_equal(read_image(image, &elf, &frames), GO_READ);
            free(table_build(&header, &none, &frames));
            go_frames_free(&frames);
        }
    free(image);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(a_go_programs_own_rules_and_stack_switches_are_read),
        TEST(functions_of_one_name_without_end_are_no_more_than_there_is_room_for),
        TEST(frames_that_lie_make_a_table_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
