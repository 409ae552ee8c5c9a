#include "sampler/profile/symbols/symbols.h"

#include "fake_elf.h"
#include "sampler/feed/cleanup.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

static int read_symbols(struct symbols **out, const char *path, const uint8_t *build_id,
                        uint32_t build_id_bytes)
{
    return symbols_read(out, &(struct module_file){ .path = path,
                                                    .build_id = build_id,
                                                    .build_id_bytes = build_id_bytes });
}

static void free_symbols(struct symbols **symbols)
{
    symbols_free(*symbols);
}

/* Of a file that lives no longer than the call. */
static struct symbols *symbols_of(const struct fake_elf *elf)
{
    char path[128], directory[64];
    struct symbols *symbols;
    bool has_id = elf->build_id[0] != 0;

    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/module", directory);
    fake_elf_write(path, elf);
    assert_int_equal(read_symbols(&symbols, path, elf->build_id, has_id ? 20 : 0), 0);
    unlink(path);
    rmdir(directory);
    return symbols;
}

/* The symbol's name at the offset; "" when none covers it. */
static const char *name_at(struct symbols *symbols, uint64_t offset)
{
    struct symbol symbol;

    return symbols_find(symbols, offset, &symbol) && symbol.name ? symbol.name : "";
}

static void a_symbol_covers_its_size_and_no_more(void **state)
{
    struct fake_elf elf = { .symbols = { { "first", 0x1010, 0x10, STB_GLOBAL, STT_FUNC },
                                         { "second", 0x1040, 0x20, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol;

    (void)state;
    assert_string_equal(name_at(symbols, 0x100f), "");
    assert_string_equal(name_at(symbols, 0x1010), "first");
    assert_string_equal(name_at(symbols, 0x101f), "first");
    assert_string_equal(name_at(symbols, 0x1020), "");
    assert_string_equal(name_at(symbols, 0x1050), "second");
    assert_string_equal(name_at(symbols, 0x1060), "");
    assert_string_equal(name_at(symbols, UINT64_MAX), "");
    assert_true(symbols_find(symbols, 0x1051, &symbol));
    assert_int_equal(symbol.start, 0x1040);
    assert_int_equal(symbol.size, 0x20);
    assert_null(symbols_reason(symbols));
}

static void the_innermost_of_overlapping_symbols_wins(void **state)
{
    struct fake_elf elf = { .symbols = { { "outer", 0x1000, 0x100, STB_GLOBAL, STT_FUNC },
                                         { "inner", 0x1040, 0x10, STB_GLOBAL, STT_FUNC },
                                         { "crossing", 0x10f0, 0x20, STB_GLOBAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);

    (void)state;
    assert_string_equal(name_at(symbols, 0x103f), "outer");
    assert_string_equal(name_at(symbols, 0x1045), "inner");
    assert_string_equal(name_at(symbols, 0x1050), "outer");
    assert_string_equal(name_at(symbols, 0x10f8), "crossing");
    assert_string_equal(name_at(symbols, 0x1108), "crossing");
    assert_string_equal(name_at(symbols, 0x1110), "");
}

static void a_symbol_without_size_fills_the_gap_up_to_the_next(void **state)
{
    struct fake_elf elf = { .symbols = { { "_init", 0x1000, 0, STB_GLOBAL, STT_FUNC },
                                         { "sized", 0x1040, 0x40, STB_GLOBAL, STT_FUNC },
                                         { "covered", 0x1050, 0, STB_GLOBAL, STT_FUNC },
                                         { "label", 0x1060, 0, STB_GLOBAL, STT_NOTYPE },
                                         { "last", 0x1100, 0, STB_GLOBAL, STT_NOTYPE } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);

    (void)state;
    assert_string_equal(name_at(symbols, 0x103f), "_init");
    assert_string_equal(name_at(symbols, 0x1058), "sized");
    assert_string_equal(name_at(symbols, 0x1068), "sized");
    assert_string_equal(name_at(symbols, 0x1080), "");
    assert_string_equal(name_at(symbols, FAKE_TEXT + FAKE_TEXT_BYTES - 1), "last");
    assert_string_equal(name_at(symbols, FAKE_TEXT + FAKE_TEXT_BYTES), "");
}

static void of_many_names_for_one_address_the_plainest_is_taken(void **state)
{
    struct fake_elf elf = { .symbols = { { "weak", 0x1000, 16, STB_WEAK, STT_FUNC },
                                         { "__global", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                                         { "_global", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                                         { "local", 0x1000, 16, STB_LOCAL, STT_FUNC },
                                         { "unsized", 0x1000, 0, STB_GLOBAL, STT_FUNC },
                                         { "weak", 0x1020, 16, STB_WEAK, STT_FUNC },
                                         { "local", 0x1020, 16, STB_LOCAL, STT_FUNC },
                                         { "b", 0x1040, 16, STB_GLOBAL, STT_FUNC },
                                         { "a", 0x1040, 16, STB_GLOBAL, STT_FUNC },
                                         { "__GI___wait4", 0x1060, 16, STB_LOCAL, STT_FUNC },
                                         { "__wait4", 0x1060, 16, STB_LOCAL, STT_FUNC },
                                         { "wait4", 0x1060, 16, STB_WEAK, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);

    (void)state;
    assert_string_equal(name_at(symbols, 0x1060), "wait4");
    assert_string_equal(name_at(symbols, 0x1000), "_global");
    assert_string_equal(name_at(symbols, 0x1020), "local");
    assert_string_equal(name_at(symbols, 0x1040), "a");
}

static void data_and_undefined_symbols_are_no_functions(void **state)
{
    struct fake_elf elf = { .symbols = { { "data", 0x1000, 16, STB_GLOBAL, STT_OBJECT },
                                         { "outside", 0x9000, 16, STB_GLOBAL, STT_FUNC },
                                         { "$x", 0x1000, 0, STB_LOCAL, STT_NOTYPE } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);

    (void)state;
    assert_string_equal(name_at(symbols, 0x1000), "");
    assert_string_equal(name_at(symbols, 0x9000), "");
    assert_string_equal(symbols_reason(symbols), "the file has no symbols");
}

static void names_are_demangled_and_versions_cut_off(void **state)
{
    struct fake_elf elf = {
        .symbols = { { "_ZN3foo3barEi", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                     { "_ZN4core3fmt5write17h0123456789abcdefE", 0x1010, 16, STB_GLOBAL, STT_FUNC },
                     { "_RNvC7mycrate3foo", 0x1020, 16, STB_GLOBAL, STT_FUNC },
                     { "_Znonsense", 0x1030, 16, STB_GLOBAL, STT_FUNC },
                     { "write@@GLIBC_2.2.5", 0x1040, 16, STB_GLOBAL, STT_FUNC } }
    };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol, again;

    (void)state;
    assert_true(symbols_find(symbols, 0x1000, &symbol));
    assert_string_equal(symbol.name, "foo::bar");
    assert_string_equal(symbol.full_name, "foo::bar(int)");
    assert_string_equal(symbol.raw_name, "_ZN3foo3barEi");
    assert_true(symbols_find(symbols, 0x1001, &again));
    assert_ptr_equal(symbol.name, again.name);
    assert_string_equal(name_at(symbols, 0x1010), "core::fmt::write");
    assert_string_equal(name_at(symbols, 0x1020), "mycrate::foo");
    assert_string_equal(name_at(symbols, 0x1030), "_Znonsense");
    assert_string_equal(name_at(symbols, 0x1040), "write");
}

/* Which of the functions of that name a part belongs to, is told by the source file. */
static void a_cold_part_belongs_to_the_function_of_its_own_file(void **state)
{
    struct fake_elf elf = { .symbols = { { "one.c", 0, 0, STB_LOCAL, STT_FILE },
                                         { "f", 0x1000, 16, STB_LOCAL, STT_FUNC },
                                         { "f.cold", 0x1100, 16, STB_LOCAL, STT_FUNC },
                                         { "two.c", 0, 0, STB_LOCAL, STT_FILE },
                                         { "f.cold.12", 0x1110, 16, STB_LOCAL, STT_FUNC },
                                         { "f", 0x1010, 16, STB_LOCAL, STT_FUNC },
                                         { "g.cold", 0x1120, 16, STB_LOCAL, STT_FUNC },
                                         { "lone.cold", 0x1130, 16, STB_LOCAL, STT_FUNC },
                                         { "g", 0x1020, 16, STB_GLOBAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    static const uint64_t homes[][2] = {
        { 0x1000, 0x1000 }, { 0x1010, 0x1010 }, { 0x1105, 0x1000 },
        { 0x1115, 0x1010 }, { 0x1125, 0x1020 },
    };
    struct symbol symbol;

    (void)state;
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        assert_true(symbols_find(symbols, homes[i][0], &symbol));
        assert_int_equal(symbol.start, homes[i][1]);
        assert_string_equal(symbol.raw_name, homes[i][1] == 0x1020 ? "g" : "f");
    }
    assert_string_equal(name_at(symbols, 0x1130), "lone [cold]");
}

static void a_cold_part_that_may_belong_to_two_functions_stays_alone(void **state)
{
    struct fake_elf elf = { .symbols = { { "one.c", 0, 0, STB_LOCAL, STT_FILE },
                                         { "f", 0x1000, 16, STB_LOCAL, STT_FUNC },
                                         { "two.c", 0, 0, STB_LOCAL, STT_FILE },
                                         { "f", 0x1010, 16, STB_LOCAL, STT_FUNC },
                                         { "three.c", 0, 0, STB_LOCAL, STT_FILE },
                                         { "f.cold", 0x1100, 16, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol;

    (void)state;
    assert_true(symbols_find(symbols, 0x1100, &symbol));
    assert_int_equal(symbol.start, 0x1100);
    assert_string_equal(symbol.name, "f [cold]");
    assert_string_equal(symbol.raw_name, "f.cold");
}

/* The alias after which it is called may not be the name that is shown. */
static void a_cold_part_may_be_called_after_an_alias(void **state)
{
    struct fake_elf elf = { .symbols = { { "_ZN1AC1Ev", 0x1000, 16, STB_WEAK, STT_FUNC },
                                         { "_ZN1AC2Ev", 0x1000, 16, STB_WEAK, STT_FUNC },
                                         { "_ZN1AC2Ev.cold", 0x1100, 16, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol;

    (void)state;
    assert_true(symbols_find(symbols, 0x1100, &symbol));
    assert_int_equal(symbol.start, 0x1000);
    assert_string_equal(symbol.name, "A::A");
}

static void a_clone_is_a_function_of_its_own_with_a_mark(void **state)
{
    struct fake_elf elf = { .symbols = { { "f", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                                         { "f.constprop.0", 0x1010, 16, STB_LOCAL, STT_FUNC },
                                         { "f.part.0", 0x1020, 16, STB_LOCAL, STT_FUNC },
                                         { "f.part.0.cold", 0x1100, 16, STB_LOCAL, STT_FUNC },
                                         { "f.isra.0.cold", 0x1110, 16, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol;

    (void)state;
    assert_string_equal(name_at(symbols, 0x1010), "f [constprop]");
    assert_string_equal(name_at(symbols, 0x1020), "f [part]");
    assert_string_equal(name_at(symbols, 0x1100), "f [part]");
    /* Nothing is left of f.isra.0 but what seldom runs: it is f's. */
    assert_true(symbols_find(symbols, 0x1110, &symbol));
    assert_int_equal(symbol.start, 0x1000);
}

/* Its code chooses the function of that name; it is not that function. */
static void the_resolver_of_an_ifunc_says_that_it_is_one(void **state)
{
    struct fake_elf elf = { .symbols = { { "memcpy", 0x1000, 16, STB_GLOBAL, STT_GNU_IFUNC },
                                         { "twice", 0x1010, 16, STB_GLOBAL, STT_GNU_IFUNC },
                                         { "choose_twice", 0x1010, 16, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol symbol;

    (void)state;
    assert_true(symbols_find(symbols, 0x1000, &symbol));
    assert_string_equal(symbol.name, "memcpy [resolver]");
    assert_string_equal(symbol.raw_name, "memcpy");
    assert_string_equal(name_at(symbols, 0x1010), "choose_twice");
}

static void functions_of_one_name_are_told_apart_by_their_start(void **state)
{
    struct fake_elf elf = { .symbols = { { "same", 0x1000, 16, STB_LOCAL, STT_FUNC },
                                         { "same", 0x1010, 16, STB_LOCAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    struct symbol one, other;

    (void)state;
    assert_true(symbols_find(symbols, 0x1001, &one) && symbols_find(symbols, 0x1011, &other));
    assert_string_equal(one.name, other.name);
    assert_int_not_equal(one.start, other.start);
}

static void another_build_on_disk_gives_no_names(void **state)
{
    struct fake_elf elf = { .symbols = { { "f", 0x1000, 16, STB_GLOBAL, STT_FUNC } },
                            .build_id = { 1, 2, 3 } };
    const uint8_t other[20] = { 1, 2, 4 };
    char path[128], directory[64];
    CLEANUP(free_symbols) struct symbols *same = symbols_of(&elf);
    CLEANUP(free_symbols) struct symbols *replaced = NULL;

    (void)state;
    assert_string_equal(name_at(same, 0x1000), "f");
    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/module", directory);
    fake_elf_write(path, &elf);
    assert_int_equal(read_symbols(&replaced, path, other, 20), 0);
    assert_string_equal(name_at(replaced, 0x1000), "");
    assert_string_equal(symbols_reason(replaced), "the file was replaced by another build");
    unlink(path);
    rmdir(directory);
}

/* The module has no symbols of its own; its debug file lies in .debug beside it. */
static void a_linked_debug_file_of_the_same_build_gives_names(void **state)
{
    struct fake_elf debug = { .symbols = { { "secret", 0x1000, 16, STB_LOCAL, STT_FUNC } },
                              .build_id = { 7, 7, 7 } };
    char directory[64], path[128], debug_directory[128], debug_path[256];
    uint8_t build_id[20] = { 7, 7, 7 };
    CLEANUP(free_symbols) struct symbols *symbols = NULL;

    (void)state;
    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/module", directory);
    snprintf(debug_directory, sizeof(debug_directory), "%s/.debug", directory);
    snprintf(debug_path, sizeof(debug_path), "%s/module.debug", debug_directory);
    mkdir(debug_directory, 0700);
    fake_elf_write(path, &(struct fake_elf){ .build_id = { 7, 7, 7 },
                                             .debuglink = "module.debug",
                                             .no_symtab = true });
    fake_elf_write(debug_path, &debug);
    assert_int_equal(read_symbols(&symbols, path, build_id, 20), 0);
    assert_string_equal(name_at(symbols, 0x1000), "secret");
    symbols_free(symbols);

    debug.build_id[0] = 8;
    fake_elf_write(debug_path, &debug);
    assert_int_equal(read_symbols(&symbols, path, build_id, 20), 0);
    assert_string_equal(name_at(symbols, 0x1000), "");
    unlink(debug_path);
    unlink(path);
    rmdir(debug_directory);
    rmdir(directory);
}

static void what_is_no_elf_file_has_no_names_but_a_reason(void **state)
{
    static const char *const paths[] = {
        "/nowhere/at/all", "/proc/self/maps", "/dev/zero", "/tmp", "", "relative"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        CLEANUP(free_symbols) struct symbols *symbols = NULL;

        assert_int_equal(read_symbols(&symbols, paths[i], NULL, 0), 0);
        assert_non_null(symbols_reason(symbols));
        assert_string_equal(name_at(symbols, 0x1000), "");
    }
}

static void a_32_bit_file_has_no_names_but_a_reason(void **state)
{
    struct fake_elf elf = { .class = ELFCLASS32 };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);

    (void)state;
    assert_string_equal(symbols_reason(symbols), "a 32-bit file");
}

static void a_file_cut_off_anywhere_is_read_as_far_as_it_goes(void **state)
{
    struct fake_elf elf = { .symbols = { { "f", 0x1000, 16, STB_GLOBAL, STT_FUNC } },
                            .build_id = { 1 } };

    (void)state;
    for (size_t bytes = 1; bytes < sizeof(struct fake_elf_image); bytes += 13) {
        elf.cut_off_at = bytes;
        symbols_free(symbols_of(&elf));
    }
}

/* Every byte of the headers and symbols in turn says something else. */
static void a_file_that_lies_is_survived(void **state)
{
    struct fake_elf elf = { .symbols = { { "f", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                                         { "g", 0x1008, 0, STB_GLOBAL, STT_NOTYPE } },
                            .build_id = { 1 },
                            .debuglink = "x.debug" };

    (void)state;
    elf.lie_at = 4;
    for (; elf.lie_at < offsetof(struct fake_elf_image, names); elf.lie_at++) {
        struct symbols *symbols = symbols_of(&elf);

        name_at(symbols, 0x1000);
        name_at(symbols, 0x100c);
        symbols_free(symbols);
    }
}

static void the_vdso_has_names(void **state)
{
    CLEANUP(free_symbols) struct symbols *symbols = NULL;
    bool found = false;

    (void)state;
    assert_int_equal(read_symbols(&symbols, "[vdso]", NULL, 0), 0);
    for (uint64_t offset = 0; offset < 0x4000 && !found; offset++)
        found = strstr(name_at(symbols, offset), "clock_gettime") != NULL;
    assert_true(found);
}

static int save_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static void a_real_program_has_its_own_names(void **state)
{
    CLEANUP(free_symbols) struct symbols *symbols = NULL;
    uint64_t bias = 0;

    (void)state;
    dl_iterate_phdr(save_bias, &bias);
    assert_int_equal(read_symbols(&symbols, "/proc/self/exe", NULL, 0), 0);
    assert_string_equal(name_at(symbols, (uint64_t)(uintptr_t)the_vdso_has_names - bias + 1),
                        "the_vdso_has_names");
}

/* Two places in one function are one function, also when nobody knows its name. */
static void a_stripped_programs_functions_are_known_by_their_start(void **state)
{
    CLEANUP(free_symbols) struct symbols *symbols = NULL;
    uint64_t bias = 0, here;
    struct symbol at_start, inside;
    struct code_part part;
    char directory[64], path[96], command[256];

    (void)state;
    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/stripped", directory);
    snprintf(command, sizeof(command), "objcopy --strip-all /proc/%d/exe %s", getpid(), path);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_symbols(&symbols, path, NULL, 0), 0);
    unlink(path);
    rmdir(directory);
    dl_iterate_phdr(save_bias, &bias);
    here = (uint64_t)(uintptr_t)a_real_program_has_its_own_names - bias;
    assert_true(symbols_find(symbols, here, &at_start));
    assert_true(symbols_find(symbols, here + 5, &inside));
    assert_null(inside.name);
    assert_int_equal(at_start.start, here);
    assert_int_equal(inside.start, here);
    assert_int_equal(symbols_parts(symbols, here + 5, &part, 1), 1);
    assert_int_equal(part.start, here);
    assert_true(part.end > here + 5 && part.end < here + 4096);
    assert_false(symbols_find(symbols, 0, &inside));
    /* A runtime may map its file's code a second time, elsewhere. */
    assert_false(symbols_find(symbols, UINT64_C(0x7efbc3e4189e), &inside));
}

static void expect_parts(const struct symbols *symbols, uint64_t offset,
                         const struct code_part *expected, uint32_t count)
{
    struct code_part parts[8];

    assert_int_equal(symbols_parts(symbols, offset, parts, 8), count);
    assert_memory_equal(parts, expected, count * sizeof(*parts));
}

/* A listing begins where the function does, wherever the linker has put its cold part. */
static void a_functions_code_is_its_own_and_its_cold_parts(void **state)
{
    struct fake_elf elf = { .symbols = { { "f.cold", 0x1000, 0x10, STB_LOCAL, STT_FUNC },
                                         { "f", 0x1100, 0x40, STB_GLOBAL, STT_FUNC },
                                         { "within", 0x1110, 0x10, STB_GLOBAL, STT_FUNC },
                                         { "other", 0x1200, 0x10, STB_GLOBAL, STT_FUNC } } };
    CLEANUP(free_symbols) struct symbols *symbols = symbols_of(&elf);
    static const struct code_part f[] = { { 0x1100, 0x1110 },
                                          { 0x1120, 0x1140 },
                                          { 0x1000, 0x1010 } };
    static const struct code_part within[] = { { 0x1110, 0x1120 } };

    (void)state;
    expect_parts(symbols, 0x1100, f, 3);
    expect_parts(symbols, 0x1008, f, 3);
    expect_parts(symbols, 0x1111, within, 1);
    expect_parts(symbols, 0x1180, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symbol_covers_its_size_and_no_more),
        cmocka_unit_test(the_innermost_of_overlapping_symbols_wins),
        cmocka_unit_test(a_symbol_without_size_fills_the_gap_up_to_the_next),
        cmocka_unit_test(of_many_names_for_one_address_the_plainest_is_taken),
        cmocka_unit_test(data_and_undefined_symbols_are_no_functions),
        cmocka_unit_test(names_are_demangled_and_versions_cut_off),
        cmocka_unit_test(a_cold_part_belongs_to_the_function_of_its_own_file),
        cmocka_unit_test(a_functions_code_is_its_own_and_its_cold_parts),
        cmocka_unit_test(a_cold_part_that_may_belong_to_two_functions_stays_alone),
        cmocka_unit_test(a_cold_part_may_be_called_after_an_alias),
        cmocka_unit_test(a_clone_is_a_function_of_its_own_with_a_mark),
        cmocka_unit_test(the_resolver_of_an_ifunc_says_that_it_is_one),
        cmocka_unit_test(functions_of_one_name_are_told_apart_by_their_start),
        cmocka_unit_test(another_build_on_disk_gives_no_names),
        cmocka_unit_test(a_linked_debug_file_of_the_same_build_gives_names),
        cmocka_unit_test(what_is_no_elf_file_has_no_names_but_a_reason),
        cmocka_unit_test(a_32_bit_file_has_no_names_but_a_reason),
        cmocka_unit_test(a_file_cut_off_anywhere_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_file_that_lies_is_survived),
        cmocka_unit_test(the_vdso_has_names),
        cmocka_unit_test(a_real_program_has_its_own_names),
        cmocka_unit_test(a_stripped_programs_functions_are_known_by_their_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
