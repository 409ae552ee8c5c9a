/* The kernel and its modules: whose an address is, what it is called, and what is hidden. */
#include "sampler/profile/symbols/kernel/kernel_places.h"
#include "sampler/profile/symbols/kernel/kernel_symbols.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char names[] = "0000000000000000 A fixed_percpu_data\n"
                            "ffffffff81000000 T startup_64\n"
                            "ffffffff81000000 T _stext\n"
                            "ffffffff81000100 t do_one\n"
                            "ffffffff81000200 W weak_one\n"
                            "ffffffff81000200 T strong_one\n"
                            "ffffffff81001000 T _etext\n"
                            "ffffffff82000000 D jiffies\n"
                            "ffffffffc0000000 t nft_do_chain\t[nf_tables]\n"
                            "ffffffffc0000040 T nft_other\t[nf_tables]\n"
                            "ffffffffc0100000 t ext4_map\t[ext4]\n"
                            "ffffffffc0200000 t bpf_prog_6deef7357e7b4530_fw\t[bpf]\n";
static const char hidden_names[] = "0000000000000000 T _stext\n"
                                   "0000000000000000 t do_one\n"
                                   "0000000000000000 T _etext\n";
/* The size is that of all parts of a module, and reaches over the next one's code. */
static const char modules[] = "ext4 1000000 1 - Live 0xffffffffc0100000 (E)\n"
                              "nf_tables 8000000 3 nft_compat,nft_chain, Live 0xffffffffc0000000\n"
                              "hidden 4096 0 - Live 0x0000000000000000\n"
                              "nonsense\n";

static FILE *stream_of(const char *text)
{
    FILE *stream = fmemopen((void *)text, strlen(text), "r");

    assert_non_null(stream);
    return stream;
}

static struct kernel_places places_of(const char *kallsyms, const char *of_modules)
{
    struct kernel_places places = { 0 };
    FILE *first = stream_of(kallsyms), *second = stream_of(of_modules);

    kernel_places_take(&places, first, second);
    fclose(first);
    fclose(second);
    return places;
}

/* The library of an address, with no look at the machine's own modules: it has just been looked. */
static const struct kernel_place *place_of(struct kernel_places *places, uint64_t address)
{
    return kernel_places_find(places, address, places->looked_us);
}

static void an_address_is_of_the_kernel_or_of_the_module_around_it(void **state)
{
    CLEANUP(kernel_places_free) struct kernel_places places = places_of(names, modules);

    (void)state;
    assert_string_equal(place_of(&places, 0xffffffff81000100)->library, "[kernel]");
    assert_string_equal(place_of(&places, 0xffffffffc0000010)->library, "[nf_tables]");
    assert_string_equal(place_of(&places, 0xffffffffc0100010)->library, "[ext4]");
    assert_int_equal(place_of(&places, 0xffffffffc0100010)->start, 0xffffffffc0100000);
    assert_int_equal(places.module_count, 2);
}

static void code_of_no_module_is_the_kernels(void **state)
{
    CLEANUP(kernel_places_free) struct kernel_places places = places_of(names, "");

    (void)state;
    assert_string_equal(place_of(&places, 0xffffffffc0200000)->library, "[kernel]");
    assert_int_equal(place_of(&places, 0xffffffffc0200000)->start, 0xffffffff81000000);
}

static void where_addresses_are_hidden_all_is_the_kernels(void **state)
{
    CLEANUP(kernel_places_free) struct kernel_places places = places_of(hidden_names, modules);

    (void)state;
    assert_true(kernel_places_hidden(&places));
    assert_string_equal(place_of(&places, 0xffffffffc0000010)->library, "[kernel]");
    assert_int_equal(place_of(&places, 0xffffffffc0000010)->start, 0);
}

static bool collect(void *context, const struct elf_function *function)
{
    char *text = context;

    sprintf(text + strlen(text), "%s+%llx ", function->name, (unsigned long long)function->start);
    return true;
}

static void functions_are_told_by_library_and_by_offset(void **state)
{
    static const struct {
        const char *library, *functions;
    } rows[] = {
        { "[kernel]", "startup_64+0 _stext+0 do_one+100 weak_one+200 strong_one+200 _etext+1000 "
                      "bpf_prog_6deef7357e7b4530_fw+3f200000 " },
        { "[nf_tables]", "nft_do_chain+0 nft_other+40 " },
        { "[ext4]", "ext4_map+0 " },
    };
    CLEANUP(kernel_places_free) struct kernel_places places = places_of(names, modules);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char told[512] = "";
        FILE *kallsyms = stream_of(names);

        kernel_symbols_in(kallsyms, kernel_places_named(&places, rows[i].library), collect, told);
        fclose(kallsyms);
        assert_string_equal(told, rows[i].functions);
    }
    assert_null(kernel_places_named(&places, "[gone]"));
}

static void a_line_that_is_none_is_passed_over(void **state)
{
    static const char *const lines[] = { "",
                                         "\n",
                                         "words",
                                         "ffffffff81000000",
                                         "ffffffff81000000 T",
                                         "ffffffff81000000 T ",
                                         "ffffffff81000000 TT name" };
    struct kernel_symbol symbol;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        char line[64];

        snprintf(line, sizeof(line), "%s", lines[i]);
        assert_false(kernel_symbol_read(line, &symbol));
    }
}

static void libraries_of_the_kernel_are_known_by_their_brackets(void **state)
{
    (void)state;
    assert_true(kernel_library_is("[kernel]", 0));
    assert_true(kernel_library_is("[nf_tables]", 20));
    assert_false(kernel_library_is("[lock]", 0));
    assert_false(kernel_library_is("[vdso]", 20));
    assert_false(kernel_library_is("/usr/lib/x.so", 20));
    assert_false(kernel_library_is("[]", 20));
}

/* Another build's names would be lies. */
static void names_of_another_kernel_and_of_a_module_that_is_gone_are_refused(void **state)
{
    static const uint8_t other[20] = { 1, 2, 3 };
    static const struct {
        const char *library, *reason;
    } rows[] = {
        { "[kernel]", "another kernel runs here" },
        { "[no_such_module]", "the module is not loaded any more" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct module_file library = { .path = rows[i].library,
                                             .build_id = other,
                                             .build_id_bytes = sizeof(other) };
        const char *reason = NULL;
        char told[512] = "";

        assert_false(kernel_symbols(&library, collect, told, &reason));
        assert_string_equal(told, "");
        assert_true(!strcmp(reason, rows[i].reason) || /* to an ordinary user */
                    strstr(reason, "the kernel hides its names"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_of_the_kernel_or_of_the_module_around_it),
        cmocka_unit_test(code_of_no_module_is_the_kernels),
        cmocka_unit_test(where_addresses_are_hidden_all_is_the_kernels),
        cmocka_unit_test(functions_are_told_by_library_and_by_offset),
        cmocka_unit_test(a_line_that_is_none_is_passed_over),
        cmocka_unit_test(libraries_of_the_kernel_are_known_by_their_brackets),
        cmocka_unit_test(names_of_another_kernel_and_of_a_module_that_is_gone_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
