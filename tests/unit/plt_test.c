#include "sampler/profile/symbols/names/plt.h"

#include "sampler/profile/symbols/names/plt_stub.h"
#include "sampler/profile/symbols/symbols.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* At 0x1000, each leads to the slot 0x4000. */
static void x86_64_stubs_of_every_linker_lead_to_their_slot(void **state)
{
    static const struct {
        uint8_t code[16];
        uint32_t bytes;
    } stubs[] = {
        /* jmp *slot; push $0; jmp .plt */
        { { 0xff, 0x25, 0xfa, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0 }, 16 },
        /* jmp *slot; nop */
        { { 0xff, 0x25, 0xfa, 0x2f, 0, 0, 0x66, 0x90 }, 8 },
        /* endbr64; jmp *slot */
        { { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x2f, 0, 0 }, 16 },
        /* endbr64; bnd jmp *slot */
        { { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x2f, 0, 0 }, 16 },
        /* endbr64; mov $1, %r11d; jmp *slot */
        { { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 1, 0, 0, 0, 0xff, 0x25, 0xf0, 0x2f, 0, 0 }, 16 },
    };
    struct plt_stub stub;

    (void)state;
    for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
        assert_true(plt_x86_64_stub(stubs[i].code, stubs[i].bytes, 0x1000, &stub));
        assert_true(stub.by_slot);
        assert_int_equal(stub.start, 0x1000);
        assert_int_equal(stub.target, 0x4000);
        for (uint32_t cut = 0; cut < 6; cut++)
            assert_false(plt_x86_64_stub(stubs[i].code, cut, 0x1000, &stub));
    }
}

static void an_x86_64_stub_that_only_asks_the_loader_has_a_number(void **state)
{
    static const uint8_t lazy[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 7, 0, 0, 0, 0xf2, 0xe9 };
    static const uint8_t header[16] = { 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25 };
    struct plt_stub stub;

    (void)state;
    assert_true(plt_x86_64_stub(lazy, sizeof(lazy), 0x1000, &stub));
    assert_false(stub.by_slot);
    assert_int_equal(stub.target, 7);
    assert_false(plt_x86_64_stub(header, sizeof(header), 0x1000, &stub));
}

static void aarch64_stubs_lead_to_their_slot(void **state)
{
    /* adrp x16, 0x11000; ldr x17, [x16, #0xff8]; add x16, x16, #0xff8; br x17 */
    static const uint32_t plain[] = { 0xf0000070, 0xf947fe11, 0x913fe210, 0xd61f0220 };
    static const uint32_t with_bti[] = { 0xd503245f, 0xf0000070, 0xf947fe11, 0x913fe210 };
    static const uint32_t back[] = { 0xf0fffff0, 0xf9400211 }; /* one page before; 0 in it */
    struct plt_stub stub;

    (void)state;
    assert_true(plt_aarch64_stub((const uint8_t *)plain, sizeof(plain), 0x2400, &stub));
    assert_int_equal(stub.target, 0x11ff8);
    assert_true(plt_aarch64_stub((const uint8_t *)with_bti, sizeof(with_bti), 0x2400, &stub));
    assert_int_equal(stub.start, 0x2400);
    assert_int_equal(stub.target, 0x11ff8);
    assert_true(plt_aarch64_stub((const uint8_t *)back, sizeof(back), 0x2400, &stub));
    assert_int_equal(stub.target, 0x1000);
    assert_false(plt_aarch64_stub((const uint8_t *)plain, 4, 0x2400, &stub));
    assert_false(plt_aarch64_stub((const uint8_t *)(plain + 1), 12, 0x2404, &stub));
}

static const char stub_ends[] = "@plt>:";

/* "0000000000001030 <getenv@plt>:" of objdump; its name for an ifunc is another. */
static bool read_line(const char *line, uint64_t *address, char name[256])
{
    char *end;

    if (sscanf(line, "%" SCNx64 " <%255s", address, name) != 2 || name[0] == '*')
        return false;
    end = strstr(name, stub_ends);
    if (!end)
        return false;
    strcpy(end, "@plt");
    end = strchr(name, '@'); /* a symbol's version */
    if (strcmp(end, "@plt") != 0)
        strcpy(end, "@plt");
    return true;
}

static void the_stubs_of_a_real_program_are_those_that_binutils_names(void **state)
{
    struct module_file file = { .path = "/proc/self/exe" };
    struct symbols *symbols;
    struct symbol symbol;
    char command[128], line[512], name[256];
    uint64_t address;
    int checked = 0;
    FILE *dump;

    (void)state;
    assert_int_equal(symbols_read(&symbols, &file), 0);
    snprintf(command, sizeof(command),
             "objdump -d -j .plt -j .plt.got -j .plt.sec /proc/%d/exe 2>&1", getpid());
    dump = popen(command, "r");
    assert_non_null(dump);
    while (fgets(line, sizeof(line), dump)) {
        if (!read_line(line, &address, name))
            continue;
        assert_true(symbols_find(symbols, address + 4, &symbol));
        assert_string_equal(symbol.raw_name, name);
        assert_int_equal(symbol.start, address);
        checked++;
    }
    pclose(dump);
    symbols_free(symbols);
    assert_true(checked >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64_stubs_of_every_linker_lead_to_their_slot),
        cmocka_unit_test(an_x86_64_stub_that_only_asks_the_loader_has_a_number),
        cmocka_unit_test(aarch64_stubs_lead_to_their_slot),
        cmocka_unit_test(the_stubs_of_a_real_program_are_those_that_binutils_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
