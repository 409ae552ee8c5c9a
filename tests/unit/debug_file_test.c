#include "sampler/profile/symbols/files/debug_file.h"

#include "fake_module.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/elf_functions.h"
#include "sampler/profile/symbols/files/mini_debug.h"
#include "sampler/profile/symbols/files/root.h"

#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

static const uint8_t seven[20] = { 7, 7, 7 }, eight[20] = { 8, 8, 8 };

static void write_elf(const char *name, const struct fake_elf *elf)
{
    char full[192], *slash = NULL;

    snprintf(full, sizeof(full), "%s/%s", directory, name);
    while ((slash = strchr(slash ? slash + 1 : full + strlen(directory) + 1, '/'))) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    fake_elf_write(full, elf);
}

static struct elf_file *open_elf(const char *name)
{
    char full[192];
    const char *reason;
    struct elf_file *file;

    snprintf(full, sizeof(full), "%s/%s", directory, name);
    file = elf_file_open(ROOT_OURS, full, &reason);
    assert_non_null(file);
    return file;
}

static bool take_name(void *name, const struct elf_function *function)
{
    snprintf(name, 32, "%s", function->name);
    return false;
}

/* The name of its only function; "" without a file or a function. Closes it. */
static const char *function_of(struct elf_file *file)
{
    static char name[32];

    name[0] = 0;
    if (file)
        elf_functions(file, take_name, name);
    elf_file_close(file);
    return name;
}

static struct fake_elf elf_with(const char *function, const uint8_t build_id[20])
{
    struct fake_elf elf = { .symbols = { { function, 0x1000, 16, STB_LOCAL, STT_FUNC } } };

    if (build_id)
        memcpy(elf.build_id, build_id, 20);
    return elf;
}

static void write_stripped(const uint8_t build_id[20], const char *link, uint32_t crc)
{
    struct fake_elf elf = { .no_symtab = true, .debuglink = link, .debuglink_crc = crc };

    if (build_id)
        memcpy(elf.build_id, build_id, 20);
    write_elf("module", &elf);
}

static const char *linked_function(const uint8_t *build_id)
{
    CLEANUP(elf_file_closep) struct elf_file *file = open_elf("module");
    struct module_file module = { .path = path,
                                  .build_id = build_id,
                                  .build_id_bytes = build_id ? 20 : 0 };

    return function_of(debug_file_open(&module, file));
}

static void a_link_leads_beside_the_module_and_into_its_folder_of_debug_files(void **state)
{
    struct fake_elf beside = elf_with("beside", seven), below = elf_with("below", seven);

    (void)state;
    write_stripped(seven, "m.debug", 0);
    assert_string_equal(linked_function(seven), "");
    write_elf(".debug/m.debug", &below);
    assert_string_equal(linked_function(seven), "below");
    write_elf("m.debug", &beside);
    assert_string_equal(linked_function(seven), "beside");
}

static void a_debug_file_of_another_build_is_passed_over(void **state)
{
    struct fake_elf other = elf_with("other", eight), right = elf_with("right", seven);

    (void)state;
    write_stripped(seven, "m.debug", 0);
    write_elf("m.debug", &other);
    assert_string_equal(linked_function(seven), "");
    write_elf(".debug/m.debug", &right);
    assert_string_equal(linked_function(seven), "right");
}

/* As `strip -o` beside a link of the same name makes it. */
static void a_link_to_the_stripped_file_itself_is_passed_over(void **state)
{
    struct fake_elf below = elf_with("below", seven);

    (void)state;
    write_stripped(seven, "module", 0);
    write_elf(".debug/module", &below);
    assert_string_equal(linked_function(seven), "below");
}

static void without_a_build_id_the_checksum_decides(void **state)
{
    struct fake_elf debug = elf_with("secret", NULL);
    uint32_t sum;

    (void)state;
    write_elf("m.debug", &debug);
    CLEANUP(elf_file_closep) struct elf_file *file = open_elf("m.debug");
    assert_true(elf_file_crc32(file, &sum));
    write_stripped(NULL, "m.debug", sum);
    assert_string_equal(linked_function(NULL), "secret");
    write_stripped(NULL, "m.debug", sum + 1);
    assert_string_equal(linked_function(NULL), "");
}

/* The number that every tool gives for it. */
static void the_checksum_is_the_one_of_debug_links(void **state)
{
    FILE *stream = fopen(path, "wb");
    struct fake_elf elf = elf_with("f", NULL);
    char command[256], text[32] = "";
    uint32_t sum = 1;

    (void)state;
    fclose(stream);
    fake_elf_write(path, &elf);
    snprintf(command, sizeof(command),
             "python3 -c 'import zlib; print(zlib.crc32(open(\"%s\", \"rb\").read()))'", path);
    stream = popen(command, "r");
    assert_non_null(fgets(text, sizeof(text), stream));
    pclose(stream);
    CLEANUP(elf_file_closep) struct elf_file *file = open_elf("module");
    assert_true(elf_file_crc32(file, &sum));
    assert_int_equal(sum, strtoul(text, NULL, 10));
}

static void write_with_altlink(const char *link)
{
    struct fake_elf elf = elf_with("main", seven);
    char extra[128];
    size_t bytes = strlen(link) + 1;

    memcpy(extra, link, bytes);
    memcpy(extra + bytes, eight, sizeof(eight));
    elf.extra_name = ".gnu_debugaltlink";
    elf.extra = extra;
    elf.extra_bytes = bytes + sizeof(eight);
    write_elf("lib/debug/module.debug", &elf);
}

static const char *alt_function(void)
{
    CLEANUP(elf_file_closep) struct elf_file *debug = open_elf("lib/debug/module.debug");
    struct module_file module = { .path = path, .build_id = seven, .build_id_bytes = 20 };

    return function_of(debug_file_alt(&module, debug));
}

static void an_alternate_file_lies_where_the_debug_files_link_says(void **state)
{
    struct fake_elf alt = elf_with("shared", eight), wrong = elf_with("wrong", seven);
    char absolute[192];

    (void)state;
    write_with_altlink("../.dwz/common");
    assert_string_equal(alt_function(), "");
    write_elf("lib/.dwz/common", &wrong);
    assert_string_equal(alt_function(), "");
    write_elf("lib/.dwz/common", &alt);
    assert_string_equal(alt_function(), "shared");
    snprintf(absolute, sizeof(absolute), "%s/lib/.dwz/common", directory);
    write_with_altlink(absolute);
    assert_string_equal(alt_function(), "shared");
}

/* An .xz of as many zeros after the head; the caller frees. */
static uint8_t *pack(const void *head, size_t head_bytes, size_t zeros, size_t *packed_bytes)
{
    size_t bytes = head_bytes + zeros, capacity = lzma_stream_buffer_bound(bytes);
    uint8_t *all = calloc(1, bytes), *packed = malloc(capacity);

    memcpy(all, head, head_bytes);
    *packed_bytes = 0;
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, all, bytes, packed,
                                             packed_bytes, capacity),
                     LZMA_OK);
    free(all);
    return packed;
}

static const char *mini_function(const uint8_t *packed, size_t bytes)
{
    struct fake_elf elf = {
        .no_symtab = true, .extra_name = ".gnu_debugdata", .extra = packed, .extra_bytes = bytes
    };

    write_elf("module", &elf);
    CLEANUP(elf_file_closep) struct elf_file *file = open_elf("module");
    return function_of(mini_debug_open(file));
}

static void packed_symbols_in_the_module_itself_are_read(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    struct fake_elf mini = elf_with("packed", NULL);
    uint8_t *packed;
    size_t bytes;

    (void)state;
    fake_elf_fill(image, &mini);
    packed = pack(image, sizeof(*image), 0, &bytes);
    assert_string_equal(mini_function(packed, bytes), "packed");
    for (size_t cut = 0; cut < bytes; cut += 7)
        assert_string_equal(mini_function(packed, cut), "");
    packed[bytes / 2] ^= 0x55;
    assert_string_equal(mini_function(packed, bytes), "");
    free(packed);
    free(image);
}

/* 10 KB that would become 80 MB. */
static void packed_symbols_that_never_end_are_given_up(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    struct fake_elf mini = elf_with("bomb", NULL);
    uint8_t *packed;
    size_t bytes;

    (void)state;
    fake_elf_fill(image, &mini);
    packed = pack(image, sizeof(*image), 80 << 20, &bytes);
    assert_in_range(bytes, 1, 1 << 20);
    assert_string_equal(mini_function(packed, bytes), "");
    free(packed);
    free(image);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(a_link_leads_beside_the_module_and_into_its_folder_of_debug_files),
        TEST(a_debug_file_of_another_build_is_passed_over),
        TEST(a_link_to_the_stripped_file_itself_is_passed_over),
        TEST(without_a_build_id_the_checksum_decides),
        TEST(the_checksum_is_the_one_of_debug_links),
        TEST(an_alternate_file_lies_where_the_debug_files_link_says),
        TEST(packed_symbols_in_the_module_itself_are_read),
        TEST(packed_symbols_that_never_end_are_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
