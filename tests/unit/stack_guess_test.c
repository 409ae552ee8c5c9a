#include "sampler/remote/stacks/stack_guess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#ifdef __x86_64__

/* Code from CODE on, a stack from STACK on; nothing else is there. */
enum { CODE = 0x10000, STACK = 0x20000, BYTES = 0x1000 };

struct fixture {
    struct stack_memory memory;
    struct stack_place place;
    enum stack_found found;
    uint8_t code[BYTES], stack[BYTES];
};

static size_t read_fixture(const void *context, uint64_t address, void *out, size_t bytes)
{
    const struct fixture *fixture = context;

    if (address - CODE < BYTES && bytes <= BYTES - (address - CODE))
        memcpy(out, fixture->code + (address - CODE), bytes);
    else if (address - STACK < BYTES && bytes <= BYTES - (address - STACK))
        memcpy(out, fixture->stack + (address - STACK), bytes);
    else
        return 0;
    return bytes;
}

/* In a function at 0x10100, which nobody knows anything of. */
static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    assert_true(stack_memory_new(&fixture->memory, read_fixture, fixture));
    fixture->place = (struct stack_place){ stack_registers_few(CODE + 0x120, STACK + 0x100), true };
}

static bool guess(struct fixture *fixture)
{
    bool found = stack_guess(&fixture->memory, &fixture->place, &fixture->found);

    stack_memory_free(&fixture->memory);
    return found;
}

static void put_word(struct fixture *fixture, uint64_t address, uint64_t word)
{
    memcpy(fixture->stack + (address - STACK), &word, sizeof(word));
}

/* A call that returns to the address. */
static void put_call(struct fixture *fixture, uint64_t returns_to, uint64_t callee)
{
    int32_t distance = (int32_t)(callee - returns_to);

    fixture->code[returns_to - 5 - CODE] = 0xe8;
    memcpy(fixture->code + (returns_to - 4 - CODE), &distance, sizeof(distance));
}

static void put_bytes(struct fixture *fixture, uint64_t returns_to, const char *bytes, size_t count)
{
    memcpy(fixture->code + (returns_to - count - CODE), bytes, count);
}

static void assert_caller(const struct fixture *fixture, uint64_t pc, uint64_t sp)
{
    assert_int_equal(fixture->place.registers.value[STACK_PC], pc);
    assert_int_equal(fixture->place.registers.value[STACK_SP], sp);
    assert_false(fixture->place.exact);
}

static void a_frame_pointer_leads_to_the_caller(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    stack_registers_put(&fixture.place.registers, STACK_FP, STACK + 0x200);
    put_word(&fixture, STACK + 0x200, STACK + 0x300);
    put_word(&fixture, STACK + 0x208, CODE + 0x500);
    put_call(&fixture, CODE + 0x500, CODE + 0x100);
    assert_true(guess(&fixture));
    assert_int_equal(fixture.found, STACK_FRAME_POINTER);
    assert_caller(&fixture, CODE + 0x500, STACK + 0x210);
    assert_int_equal(fixture.place.registers.value[STACK_FP], STACK + 0x300);
}

static void a_frame_pointer_that_leads_to_no_call_is_not_believed(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    stack_registers_put(&fixture.place.registers, STACK_FP, STACK + 0x200);
    put_word(&fixture, STACK + 0x208, CODE + 0x500);
    assert_false(guess(&fixture));
}

static void the_next_return_address_is_the_caller(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    put_word(&fixture, STACK + 0x120, CODE + 0x600); /* no call before it */
    put_word(&fixture, STACK + 0x140, CODE + 0x500);
    put_call(&fixture, CODE + 0x500, CODE + 0x100);
    assert_true(guess(&fixture));
    assert_int_equal(fixture.found, STACK_RETURN_ADDRESS);
    assert_caller(&fixture, CODE + 0x500, STACK + 0x148);
}

static void a_call_of_this_function_is_believed_before_that_of_another(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    put_word(&fixture, STACK + 0x120, CODE + 0x600);
    put_call(&fixture, CODE + 0x600, CODE + 0x800); /* left over from an earlier call */
    put_word(&fixture, STACK + 0x140, CODE + 0x500);
    put_call(&fixture, CODE + 0x500, CODE + 0x100);
    assert_true(guess(&fixture));
    assert_caller(&fixture, CODE + 0x500, STACK + 0x148);
}

/* As musl's epoll_wait. */
static void a_call_of_a_function_that_jumps_here_is_a_call_of_this_one(void **state)
{
    struct fixture fixture;
    int32_t distance = 0x100 - (0x800 + 12);

    (void)state;
    begin(&fixture);
    put_word(&fixture, STACK + 0x120, CODE + 0x600);
    put_call(&fixture, CODE + 0x600, CODE + 0x800);
    memcpy(fixture.code + 0x800, "\xf3\x0f\x1e\xfa\x45\x31\xc0\xe9", 8); /* endbr64, xor, jmp */
    memcpy(fixture.code + 0x808, &distance, sizeof(distance));
    put_word(&fixture, STACK + 0x140, CODE + 0x500);
    put_call(&fixture, CODE + 0x500, CODE + 0x100);
    assert_true(guess(&fixture));
    assert_caller(&fixture, CODE + 0x600, STACK + 0x128);
}

static void what_exits_at_once_ends_a_thread(void **state)
{
    static const uint8_t musl[LAST_BYTES] = "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05\xf4";
    static const uint8_t other[LAST_BYTES] = "\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05";
    static const uint8_t returns[LAST_BYTES] = "\x89\xc7\xb8\x3d\x00\x00\x00\x0f\x05";

    (void)state;
    assert_true(code_ends_thread(musl));
    assert_true(code_ends_thread(other));
    assert_false(code_ends_thread(returns)); /* it waits for a child */
}

static void a_call_of_another_function_is_better_than_none(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    put_word(&fixture, STACK + 0x120, CODE + 0x600);
    put_call(&fixture, CODE + 0x600, CODE + 0x800);
    assert_true(guess(&fixture));
    assert_caller(&fixture, CODE + 0x600, STACK + 0x128);
}

static void calls_by_registers_and_memory_are_calls(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
    } calls[] = {
        { "\xff\xd0", 2 },                     /* call *%rax */
        { "\x41\xff\xd3", 3 },                 /* call *%r11 */
        { "\xff\x10", 2 },                     /* call *(%rax) */
        { "\xff\x50\x18", 3 },                 /* call *0x18(%rax) */
        { "\xff\x90\x18\x01\x00\x00", 6 },     /* call *0x118(%rax) */
        { "\xff\x15\x00\x10\x00\x00", 6 },     /* call *0x1000(%rip) */
        { "\xff\x14\xc1", 3 },                 /* call *(%rcx,%rax,8) */
        { "\xff\x54\xc1\x08", 4 },             /* call *0x8(%rcx,%rax,8) */
        { "\xff\x14\xc5\x00\x10\x00\x00", 7 }, /* call *0x1000(,%rax,8) */
        { "\xff\x94\xc1\x00\x10\x00\x00", 7 }, /* call *0x1000(%rcx,%rax,8) */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct fixture fixture;

        begin(&fixture);
        put_word(&fixture, STACK + 0x120, CODE + 0x600);
        put_bytes(&fixture, CODE + 0x600, calls[i].bytes, calls[i].count);
        assert_true(guess(&fixture));
        assert_caller(&fixture, CODE + 0x600, STACK + 0x128);
    }
}

static void a_jump_is_no_call(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    put_word(&fixture, STACK + 0x120, CODE + 0x600);
    put_bytes(&fixture, CODE + 0x600, "\xff\xe0", 2); /* jmp *%rax */
    put_word(&fixture, STACK + 0x128, CODE + 0x700);
    put_bytes(&fixture, CODE + 0x700, "\xe9\x00\x10\x00\x00", 5);
    assert_false(guess(&fixture));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_pointer_leads_to_the_caller),
        cmocka_unit_test(a_frame_pointer_that_leads_to_no_call_is_not_believed),
        cmocka_unit_test(the_next_return_address_is_the_caller),
        cmocka_unit_test(a_call_of_this_function_is_believed_before_that_of_another),
        cmocka_unit_test(a_call_of_a_function_that_jumps_here_is_a_call_of_this_one),
        cmocka_unit_test(what_exits_at_once_ends_a_thread),
        cmocka_unit_test(a_call_of_another_function_is_better_than_none),
        cmocka_unit_test(calls_by_registers_and_memory_are_calls),
        cmocka_unit_test(a_jump_is_no_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* How calls look is the processor's; the rest is the same. */
static void a_branch_with_link_is_a_call(void **state)
{
    const uint8_t bl[] = { 0x02, 0x00, 0x00, 0x94 }, blr[] = { 0x00, 0x01, 0x3f, 0xd6 };
    const uint8_t br[] = { 0x00, 0x01, 0x1f, 0xd6 };
    uint64_t target;

    (void)state;
    assert_true(call_ends(bl, 0x1004, &target));
    assert_int_equal(target, 0x1008);
    assert_true(call_ends(blr, 0x1004, &target));
    assert_false(call_ends(br, 0x1004, &target));
}

static void a_branch_is_a_jump_and_an_exit_ends_a_thread(void **state)
{
    const uint8_t back[CALLEE_BYTES] = { 0x5f, 0x24, 0x03, 0xd5, 0xfe, 0xff, 0xff, 0x17 };
    const uint8_t exits[LAST_BYTES] = { 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
    const uint8_t other[LAST_BYTES] = { 0xc8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };

    (void)state;
    assert_true(jumps_to(back, 0x1000, 0xff0, 0xffc));
    assert_false(jumps_to(back, 0x1000, 0xff0, 0xff8));
    assert_true(code_ends_thread(exits));
    assert_false(code_ends_thread(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_with_link_is_a_call),
        cmocka_unit_test(a_branch_is_a_jump_and_an_exit_ends_a_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
