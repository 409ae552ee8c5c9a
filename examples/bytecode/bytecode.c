/*
 * bytecode.c - an interpreter whose own functions stand in its profile.
 *
 *     isoscope run --keep -- build/examples/bytecode 2
 *
 * A tiny stack machine runs three functions of bytecode: main calls a, and a calls b by way of C,
 * which enters the interpreter again. Without the provider a profile shows interpret calling
 * through_c calling interpret; with it, b called by through_c called by a called by main.
 */
#include <isoscope/isoscope.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum op { PUSH, LOAD, STORE, ADD, LESS, LOOP_IF, CALL, NATIVE, RETURN };

struct function {
    const char *name;
    const int *code; /* ops, each with one operand */
};

/* A function at work. */
struct call {
    struct call *caller;
    const struct function *function;
    bool entry; /* interpret was entered for it: it is the last one of its native frame */
    const int *pc;
    long locals[2];
};

static struct call *volatile current; /* innermost; the machine has one thread */

static long interpret(const struct function *function);

/* ---- what isoscope asks, in a signal handler ---- */

/* cursor: the call that was given last. */
static const char *next_frame(void *context, const struct isoscope_native_frame *native,
                              void **cursor)
{
    struct call *last = *cursor;
    struct call *call = last ? last->caller : current;

    (void)context;
    if (!call || (native->shown && last->entry))
        return NULL;
    *cursor = call;
    return call->function->name;
}

/* The call is whole before it is the current one, and stays whole until it is not. */
static void make_current(struct call *call)
{
    atomic_signal_fence(memory_order_release);
    current = call;
}

/* ---- the bytecode ---- */

static const int code_b[] = {
    PUSH, 1,      LOAD, 0, ADD,     0, STORE, 0, LOAD,   0,
    PUSH, 100000, LESS, 0, LOOP_IF, 0, LOAD,  0, RETURN, 0,
};
static const struct function b = { "b", code_b };

static clock_t end;

static long through_c(void)
{
    return interpret(&b) + 1;
}

static long time_left(void)
{
    return clock() < end;
}

static long (*const natives[])(void) = { through_c, time_left };

static const int code_a[] = { NATIVE, 0, RETURN, 0 };
static const struct function a = { "a", code_a };
static const struct function *const functions[] = { &a };
static const int code_main[] = { CALL, 0, STORE, 0, NATIVE, 1, LOOP_IF, 0, LOAD, 0, RETURN, 0 };
static const struct function bytecode_main = { "main (bytecode)", code_main };

/* ---- the machine ---- */

/* In a section of its own, so that the linker knows where it begins and ends. */
extern const char __start_interpreter[], __stop_interpreter[];

__attribute__((section("interpreter"), noinline)) static long
interpret(const struct function *function)
{
    struct call calls[8], *call = calls;
    long stack[16], *top = stack;

    *call = (struct call){ current, function, true, function->code, { 0 } };
    make_current(call);
    for (;;) {
        int op = call->pc[0], operand = call->pc[1];

        call->pc += 2;
        switch (op) {
        case PUSH:
            *top++ = operand;
            break;
        case LOAD:
            *top++ = call->locals[operand];
            break;
        case STORE:
            call->locals[operand] = *--top;
            break;
        case ADD:
            top--;
            top[-1] += *top;
            break;
        case LESS:
            top--;
            top[-1] = top[-1] < *top;
            break;
        case LOOP_IF:
            if (*--top)
                call->pc = call->function->code + operand;
            break;
        case CALL:
            call[1] =
                (struct call){ call, functions[operand], false, functions[operand]->code, { 0 } };
            make_current(++call);
            break;
        case NATIVE:
            *top++ = natives[operand]();
            break;
        case RETURN:
            make_current(call->caller);
            if (call->entry)
                return *--top;
            call--;
            break;
        }
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;

    isoscope_frame_provider_register(
        __start_interpreter, (size_t)(__stop_interpreter - __start_interpreter), next_frame, NULL);
    end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    isoscope_tag_push("running bytecode");
    printf("%ld\n", interpret(&bytecode_main));
    isoscope_tag_pop();
    return 0;
}
