#include "sampler/profile/symbols/dwarf/dwarf_file.h"

#include "fake_elf.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { CODE_BYTES = 0x2000 };

static char directory[64], path[128];

static void shell(const char *command)
{
    char full[2048];

    snprintf(full, sizeof(full), "cd %s && { %s; } >/dev/null 2>&1", directory, command);
    assert_int_equal(system(full), 0);
}

/* Two programs that inline the same function: dwz moves what is told of it into a third file. */
static int make_programs(void **state)
{
    (void)state;
    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/one", directory);
    shell("printf 'struct pair { long first, second; };\n"
          "static inline __attribute__((always_inline)) long shared_step(struct pair *pair)\n"
          "{ long sum = pair->first; for (long i = 0; i < pair->second; i++) sum += i * sum;\n"
          "  return sum; }\n' >shared.h && "
          "printf '#include \"shared.h\"\nint main(int n, char **v) "
          "{ struct pair p = { n, v[0][0] }; return (int)shared_step(&p); }\n' >one.c && "
          "cp one.c two.c && cc -g -O1 one.c -o one && cc -g -O1 two.c -o two");
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    fake_directory_remove(directory);
    return 0;
}

static void close_lines(struct lines **lines)
{
    lines_close(*lines);
}

static int open_lines(struct lines **out)
{
    return lines_open(out, &(struct module_file){ .path = path });
}

/* Some address is in the function, inlined. */
static bool finds_inlined(struct lines *lines, const char *name)
{
    struct line_frame frames[LINES_FRAMES_MAX];

    for (uint64_t offset = 0; offset < CODE_BYTES; offset++) {
        uint32_t count = lines_find(lines, offset, frames);

        for (uint32_t i = 0; i < count; i++)
            if (frames[i].inlined && frames[i].name && !strcmp(frames[i].name, name))
                return true;
    }
    return false;
}

static void what_dwz_moved_away_is_found_again(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("dwz -m common one two && readelf -S one | grep gnu_debugaltlink");
    assert_int_equal(open_lines(&lines), 0);
    assert_null(lines_reason(lines));
    assert_true(finds_inlined(lines, "shared_step"));
}

/* A pipe in its place would be waited for. */
static void without_what_dwz_moved_away_there_is_a_reason(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL, *piped = NULL;

    (void)state;
    shell("dwz -m common one two && rm common");
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(lines_reason(lines), "its alternate debug file (made by dwz) is missing");
    shell("mkfifo common");
    assert_int_equal(open_lines(&piped), 0);
    assert_string_equal(lines_reason(piped), "its alternate debug file (made by dwz) is missing");
}

static void packed_sections_are_read_as_plain_ones(void **state)
{
    static const char *const kinds[] = { "zlib", "zlib-gnu" };
    char command[128];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        CLEANUP(close_lines) struct lines *lines = NULL;

        snprintf(command, sizeof(command), "objcopy --compress-debug-sections=%s two one",
                 kinds[i]);
        shell(command);
        assert_int_equal(open_lines(&lines), 0);
        assert_null(lines_reason(lines));
        assert_true(finds_inlined(lines, "shared_step"));
    }
}

/* Says of each packed section that it is packed with zstd. */
static void pretend_zstd(void)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "r+b");
    size_t count = fread(bytes, 1, sizeof(bytes), file);
    Elf64_Ehdr header;
    Elf64_Shdr section;
    const uint32_t zstd = 2;

    assert_in_range(count, sizeof(header), sizeof(bytes) - 1);
    memcpy(&header, bytes, sizeof(header));
    for (uint64_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        if (!(section.sh_flags & SHF_COMPRESSED))
            continue;
        fseek(file, (long)section.sh_offset, SEEK_SET);
        fwrite(&zstd, sizeof(zstd), 1, file);
    }
    fclose(file);
}

/* A libelf that knows it says that these are no sections of zstd. */
static void what_this_libelf_cannot_unpack_has_a_reason(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("objcopy --compress-debug-sections=zlib two one && readelf -t one | grep ZLIB");
    pretend_zstd();
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(
        lines_reason(lines),
        "its debug information is packed with zstd, which the libelf here cannot read");
}

static void a_separate_debug_file_is_found_by_its_link(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL, *none = NULL;

    (void)state;
    shell("objcopy --only-keep-debug one one.debug && strip one && "
          "objcopy --add-gnu-debuglink=one.debug one");
    assert_int_equal(open_lines(&lines), 0);
    assert_null(lines_reason(lines));
    assert_true(finds_inlined(lines, "shared_step"));
    shell("rm one.debug");
    assert_int_equal(open_lines(&none), 0);
    assert_string_equal(lines_reason(none), "the file has no debug information");
}

/* libdw looks for no end of a text: it must not read beyond the section. */
static void texts_without_an_end_are_refused(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("objcopy -O binary --only-section=.debug_str --set-section-flags .debug_str=alloc "
          "one texts && head -c -1 texts >cut && objcopy --update-section .debug_str=cut one");
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(lines_reason(lines), "the debug information is damaged");
}

static void a_debug_file_without_debug_information_is_named(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("strip -g one && cp one one.debug && strip one && objcopy --add-gnu-debuglink=one.debug "
          "one");
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(lines_reason(lines), "the debug file has no debug information");
}

static void debug_information_of_data_alone_tells_of_no_code(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("printf 'struct pair { long first, second; } pair;\n' >data.c && "
          "cc -g -shared -nostdlib data.c -o one");
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(lines_reason(lines), "the debug information tells of no code");
}

/* The packed bytes are no longer what zlib has made. */
static void packed_sections_that_cannot_be_unpacked_have_a_reason(void **state)
{
    CLEANUP(close_lines) struct lines *lines = NULL;

    (void)state;
    shell("objcopy -R .debug_line --compress-debug-sections=zlib two one && "
          "at=$(readelf -SW one | "
          "sed -n 's/.* .debug_info *PROGBITS *[0-9a-f]* \\([0-9a-f]*\\) .* C .*/\\1/p') && "
          "head -c 16 /dev/zero | dd of=one bs=1 seek=$((0x$at + 24)) conv=notrunc");
    assert_int_equal(open_lines(&lines), 0);
    assert_string_equal(lines_reason(lines), "the debug information cannot be read");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_programs, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(what_dwz_moved_away_is_found_again),
        TEST(without_what_dwz_moved_away_there_is_a_reason),
        TEST(packed_sections_are_read_as_plain_ones),
        TEST(what_this_libelf_cannot_unpack_has_a_reason),
        TEST(a_separate_debug_file_is_found_by_its_link),
        TEST(texts_without_an_end_are_refused),
        TEST(a_debug_file_without_debug_information_is_named),
        TEST(debug_information_of_data_alone_tells_of_no_code),
        TEST(packed_sections_that_cannot_be_unpacked_have_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
