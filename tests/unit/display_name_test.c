#include "sampler/profile/symbols/names/display_name.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *raw, *name, *full_name; /* full_name NULL: the same */
};

static void check(const struct row *rows, size_t count, unsigned traits)
{
    for (size_t i = 0; i < count; i++) {
        struct display_name *display_name = display_name_new(rows[i].raw, traits);

        assert_non_null(display_name);
        assert_string_equal(display_name->name, rows[i].name);
        assert_string_equal(display_name->full_name,
                            rows[i].full_name ? rows[i].full_name : rows[i].name);
        assert_int_equal(display_name_differs(rows[i].raw, traits),
                         strcmp(rows[i].raw, rows[i].name) != 0);
        free(display_name);
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]), 0)

static void names_of_c_are_said_as_they_are_written(void **state)
{
    static const struct row rows[] = {
        { "main", "main", NULL },
        { "x.y", "x.y", NULL },
        { "main.main", "main.main", NULL },
        { "puts@plt", "puts@plt", NULL },
        { "Z_not_mangled", "Z_not_mangled", NULL },
        { "cold", "cold", NULL },
        { "x.12", "x.12", NULL },
    };

    (void)state;
    CHECK(rows);
}

static void names_of_d_are_read_as_modules_and_functions(void **state)
{
    static const struct row rows[] = {
        { "_D3k1d3f60FmZv", "k1d.f60", "k1d.f60(ulong)" },
        { "_D3k1d__T3BoxTiZQh5twiceMFNbNiiZi", "k1d.Box!(int).Box.twice",
          "k1d.Box!(int).Box.twice(int)" },
        { "_Dmain", "D main", NULL },
        { "_D3k1d12__ModuleInfoZ", "ModuleInfo for k1d", NULL },
        { "_Dx", "_Dx", NULL },
    };

    (void)state;
    CHECK(rows);
}

/* Each back reference might repeat what was said before. */
static void a_name_of_d_that_may_read_out_to_gigabytes_stays(void **state)
{
    char raw[2 + 26 * 5 + 16] = "_D3k1d";
    struct display_name *display_name;

    (void)state;
    for (int i = 0; i < 26; i++)
        strcat(raw, "HQaQb");
    display_name = display_name_new(raw, 0);
    assert_non_null(display_name);
    assert_string_equal(display_name->name, raw);
    free(display_name);
}

static void names_of_ocaml_have_modules_and_no_stamp(void **state)
{
    static const struct row rows[] = {
        { "camlKml__f60_85", "Kml.f60", NULL },
        { "camlStdlib__List__map_123", "Stdlib.List.map", NULL },
        { "camlKml__$2b$21_88", "Kml.+!", NULL },
        { "camlKml.f60_270", "Kml.f60", NULL },
        { "camlKml__entry", "Kml.entry", NULL },
        { "caml_alloc_shr", "caml_alloc_shr", NULL },
        { "camlKml", "camlKml", NULL },
    };

    (void)state;
    CHECK(rows);
}

static void names_of_ada_are_read_only_where_there_is_ada(void **state)
{
    static const struct row ada[] = {
        { "kada__f60.0", "kada.f60", NULL },
        { "_ada_kada", "kada", NULL },
        { "ada__text_io__put_line__4", "ada.text_io.put_line", NULL },
        { "main", "main", NULL },
    };
    static const struct row c[] = { { "kada__f60", "kada__f60", NULL } };

    (void)state;
    check(ada, sizeof(ada) / sizeof(ada[0]), DISPLAY_NAME_GNAT);
    CHECK(c);
}

static void the_short_name_has_no_parameters_and_no_return_type(void **state)
{
    static const struct row rows[] = {
        { "_ZNK2ns3FooIiE3barEi", "ns::Foo<int>::bar", "ns::Foo<int>::bar(int) const" },
        { "_ZNKR2ns3FooIiE4tmplIiEET_S3_PFvS3_E", "ns::Foo<int>::tmpl<int>",
          "int ns::Foo<int>::tmpl<int>(int, void (*)(int)) const &" },
        { "_Z4packILi3EJicdEEDaDpT0_", "pack<3, int, char, double>",
          "auto pack<3, int, char, double>(int, char, double)" },
        { "_ZN2ns3FooIiE2fpEPFviE", "ns::Foo<int>::fp", "ns::Foo<int>::fp(void (*)(int))" },
        { "_ZN12_GLOBAL__N_16hiddenEPFiiE", "(anonymous namespace)::hidden",
          "(anonymous namespace)::hidden(int (*)(int))" },
        { "_ZNKSt8functionIFiiEEclEi", "std::function<int (int)>::operator()",
          "std::function<int (int)>::operator()(int) const" },
        { "_ZN1AD0Ev", "A::~A", "A::~A()" },
        { "_ZThn16_N1C1bEv", "non-virtual thunk to C::b", "non-virtual thunk to C::b()" },
        { "_ZL6hiddeni", "hidden", "hidden(int)" },
        { "_ZTV1A", "vtable for A", NULL },
    };

    (void)state;
    CHECK(rows);
}

static void operators_keep_their_brackets(void **state)
{
    static const struct row rows[] = {
        { "_ZN2ns3FooIiErsEi", "ns::Foo<int>::operator>>", "ns::Foo<int>::operator>>(int)" },
        { "_ZNK2ns3FooIiEltERKS1_", "ns::Foo<int>::operator<",
          "ns::Foo<int>::operator<(ns::Foo<int> const&) const" },
        { "_ZNK2ns3FooIiEclEi", "ns::Foo<int>::operator()", "ns::Foo<int>::operator()(int) const" },
        { "_ZNK2ns3FooIiEcvT_IdEEv", "ns::Foo<int>::operator double<double>",
          "ns::Foo<int>::operator double<double>() const" },
        { "_ZNK2ns3FooIiEcvbEv", "ns::Foo<int>::operator bool",
          "ns::Foo<int>::operator bool() const" },
        { "_ZdlPvS_", "operator delete", "operator delete(void*, void*)" },
    };

    (void)state;
    CHECK(rows);
}

static void a_lambda_is_named_by_where_it_stands(void **state)
{
    static const struct row rows[] = {
        { "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()",
          "main::{lambda(int)#1}::operator()(int) const" },
        { "_ZZZ4mainENKUliE_clEiENKUliE_clEi",
          "main::{lambda(int)#1}::operator()::{lambda(int)#1}::operator()",
          "main::{lambda(int)#1}::operator()(int) const::{lambda(int)#1}::operator()(int) const" },
        { "_ZZ4packILi3EJicdEEDaDpT0_ENKUlT_E_clIiEEDaS2_",
          "pack<3, int, char, double>::{lambda(auto:1)#1}::operator()<int>",
          "auto pack<3, int, char, double>(int, char, double)::{lambda(auto:1)#1}::operator()<int>"
          "(int) const" },
        { "_Z4callIZZ4mainENKUliE_clEiEUliE_EiT_",
          "call<main::{lambda(int)#1}::operator()::{lambda(int)#1}>",
          "int call<main::{lambda(int)#1}::operator()(int) const::{lambda(int)#1}>"
          "(main::{lambda(int)#1}::operator()(int) const::{lambda(int)#1})" },
    };

    (void)state;
    CHECK(rows);
}

static void what_nobody_writes_of_the_standard_library_is_left_out(void **state)
{
    static const struct row rows[] = {
        { "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int>::push_back",
          "std::vector<int, std::allocator<int> >::push_back(int const&)" },
        { "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "std::string::append",
          "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append("
          "char const*)" },
        { "_ZNSt6vectorIi7MyAllocE4sizeEv", "std::vector<int, MyAlloc>::size",
          "std::vector<int, MyAlloc>::size()" },
        { "_Z3fooB5cxx11i", "foo", "foo[abi:cxx11](int)" },
        { "_Z1fISt4pairIiSaIiEEEvv", "f<std::pair<int, std::allocator<int> > >",
          "void f<std::pair<int, std::allocator<int> > >()" },
    };

    (void)state;
    CHECK(rows);
}

static void both_manglings_of_rust_are_read(void **state)
{
    static const struct row rows[] = {
        { "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", NULL },
        { "_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h"
          "0123456789abcdefE",
          "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", NULL },
        { "_ZN3std2io5stdio6_print17h0123456789abcdefE.llvm.1234567",
          "std::io::stdio::_print [llvm]", NULL },
        { "_RNvC7mycrate3foo", "mycrate::foo", NULL },
        { "_RNvMNtCs4fqI2P2rA04_7mycrate6shapesNtB2_6Circle4area",
          "<mycrate::shapes::Circle>::area", NULL },
        { "_RNCNvC7mycrate4main0", "mycrate::main::{closure#0}", NULL },
        { "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", NULL },
    };

    (void)state;
    CHECK(rows);
}

static void what_the_compiler_made_of_a_function_is_a_mark(void **state)
{
    static const struct row rows[] = {
        { "f.isra.0", "f [isra]", NULL },
        { "f.isra.0.constprop.12", "f [isra, constprop]", NULL },
        { "f.part.3", "f [part]", NULL },
        { "f.cold", "f [cold]", NULL },
        { "f.lto_priv.0", "f [lto_priv]", NULL },
        { "f._omp_fn.0", "f [omp]", NULL },
        { "f.llvm.123456", "f [llvm]", NULL },
        { "_ZN3foo3barEi.constprop.0", "foo::bar [constprop]", "foo::bar(int) [constprop]" },
        { "_ZN3foo3barEi@plt", "foo::bar@plt", "foo::bar(int)@plt" },
        { "_Z3fooi.avx2.0", "foo [clone .avx2.0]", "foo(int) [clone .avx2.0]" },
    };

    (void)state;
    CHECK(rows);
}

static void a_resolver_is_marked(void **state)
{
    struct display_name *display_name = display_name_new("memcpy", true);

    (void)state;
    assert_true(display_name_differs("memcpy", true));
    assert_string_equal(display_name->name, "memcpy [resolver]");
    free(display_name);
}

/* Each parameter is a pair of the one before: read out, it is 2 to the 60 letters. */
static void a_name_that_reads_out_without_end_stays_as_it_is(void **state)
{
    char raw[1024] = "_Z1f1AIiiE", base[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t used = strlen(raw);
    struct display_name *display_name;

    (void)state;
    for (int i = 0; i < 60; i++) {
        char last[8];

        if (i == 0)
            snprintf(last, sizeof(last), "S0_");
        else if (i < 36)
            snprintf(last, sizeof(last), "S%c_", base[i]);
        else
            snprintf(last, sizeof(last), "S1%c_", base[i - 36]);
        used += (size_t)snprintf(raw + used, sizeof(raw) - used, "S_I%s%sE", last, last);
    }
    display_name = display_name_new(raw, false);
    assert_non_null(display_name);
    assert_string_equal(display_name->full_name, raw);
    free(display_name);
}

static void cut_and_scribble(const char *whole)
{
    size_t bytes = strlen(whole) + 1;
    char name[512];

    for (size_t cut = 1; cut < bytes; cut++)
        for (int letter = '.'; letter <= 'z'; letter++) {
            memcpy(name, whole, bytes);
            name[cut - 1] = (char)letter;
            free(display_name_new(name, false));
            name[cut] = 0;
            free(display_name_new(name, false));
        }
}

static void no_cut_or_scribbled_name_does_harm(void **state)
{
    (void)state;
    cut_and_scribble("_ZZ4packILi3EJicdEEDaDpT0_ENKUlT_E_clIiEEDaS2_.isra.0@plt");
    cut_and_scribble(
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendIPKcvEERS4_T_S9_");
    cut_and_scribble("_ZNSt3mapISsSt6vectorIiSaIiEESt4lessISsESaISt4pairIKSsS2_EEEixERS6_");
    cut_and_scribble("_ZNKR2ns3FooIiE4tmplIiEET_S3_PFvS3_E");
    cut_and_scribble("_ZN4core3fmt5write17h0123456789abcdefE.llvm.12");
    cut_and_scribble("_RNvMNtCs4fqI2P2rA04_7mycrate6shapesNtB2_6Circle4area");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_c_are_said_as_they_are_written),
        cmocka_unit_test(names_of_d_are_read_as_modules_and_functions),
        cmocka_unit_test(a_name_of_d_that_may_read_out_to_gigabytes_stays),
        cmocka_unit_test(names_of_ocaml_have_modules_and_no_stamp),
        cmocka_unit_test(names_of_ada_are_read_only_where_there_is_ada),
        cmocka_unit_test(the_short_name_has_no_parameters_and_no_return_type),
        cmocka_unit_test(operators_keep_their_brackets),
        cmocka_unit_test(a_lambda_is_named_by_where_it_stands),
        cmocka_unit_test(what_nobody_writes_of_the_standard_library_is_left_out),
        cmocka_unit_test(both_manglings_of_rust_are_read),
        cmocka_unit_test(what_the_compiler_made_of_a_function_is_a_mark),
        cmocka_unit_test(a_resolver_is_marked),
        cmocka_unit_test(a_name_that_reads_out_without_end_stays_as_it_is),
        cmocka_unit_test(no_cut_or_scribbled_name_does_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
