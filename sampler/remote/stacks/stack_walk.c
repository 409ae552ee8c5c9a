#include "stack_walk.h"

#include "stack_dwarf.h"
#include "stack_guess.h"
#include "stack_modules.h"
#include "stack_tables.h"

#include <stdio.h>
#include <stdlib.h>

enum { ENTRY_BYTES = 64 }; /* a program's first instructions, which nobody called */

struct stack_walker {
    const struct thread_stacks *stacks;
    struct stack_memory *memory;
    struct stack_dwarf *dwarf;
    struct stack_tables *tables;
};

struct stack_walker *stack_walker_new(const struct thread_stacks *stacks,
                                      struct stack_memory *memory)
{
    struct stack_walker *walker = calloc(1, sizeof(*walker));

    if (!walker)
        return NULL;
    *walker = (struct stack_walker){ stacks, memory, stack_dwarf_new(stacks, memory),
                                     stack_tables_new(stacks, memory) };
    if (walker->dwarf && walker->tables)
        return walker;
    stack_walker_free(walker);
    return NULL;
}

void stack_walker_free(struct stack_walker *walker)
{
    if (!walker)
        return;
    stack_dwarf_free(walker->dwarf);
    stack_tables_free(walker->tables);
    free(walker);
}

static bool is_entry(const struct stack_walker *walker, const struct stack_place *place)
{
    uint64_t pc = place->registers.value[STACK_PC];
    const struct stack_module *module = stack_module_at(walker->stacks, pc);

    return module && module->entry && pc - module->entry < ENTRY_BYTES;
}

/* A libc without unwind data, as musl's: its clone calls the thread's function, and then exits. */
static bool is_thread_start(const struct stack_walker *walker, const struct stack_place *place)
{
    uint8_t code[LAST_BYTES];

    return !place->exact &&
           stack_memory_get(walker->memory, place->registers.value[STACK_PC], code, sizeof(code)) &&
           code_ends_thread(code);
}

static void say_why(const struct stack_walker *walker, struct stack_thread *thread,
                    const struct stack_place *place, enum stack_stop stop)
{
    unsigned long long pc = place->registers.value[STACK_PC];

    if (stop == STACK_DEEP)
        snprintf(thread->why, sizeof(thread->why), "it has more than %d frames", STACKS_DEPTH_MAX);
    else if (stop == STACK_BARE)
        snprintf(thread->why, sizeof(thread->why),
                 "the code at 0x%llx has no unwind data, and no return address lies behind it", pc);
    else
        snprintf(thread->why, sizeof(thread->why), "%s", stack_dwarf_why(walker->dwarf));
}

/* By the processors' ABIs, a thread begins with a frame pointer of 0. */
static bool is_marked_root(const struct stack_place *place)
{
    return stack_registers_know(&place->registers, STACK_FP) && !place->registers.value[STACK_FP];
}

/* One caller by guessing; from there on it is known again, maybe. */
static enum stack_stop guess_on(struct stack_walker *walker, struct stack_place *place,
                                struct stack_thread *thread, enum stack_stop stop)
{
    enum stack_found found;

    if (is_entry(walker, place) || is_thread_start(walker, place))
        return STACK_ROOT;
    if (!stack_guess(walker->memory, place, &found))
        return is_marked_root(place) ? STACK_ROOT : stop;
    return stack_put(walker->stacks, thread, place->registers.value[STACK_PC], false, found)
               ? stack_dwarf_walk(walker->dwarf, place, thread)
               : STACK_DEEP;
}

/* A register that the kernel does not tell of a sleeping thread is worth a stop of it, not a guess. */
static bool is_worth_a_guess(const struct stack_place *place, enum stack_stop stop)
{
    return stop == STACK_BARE ||
           (stop == STACK_CUT && stack_registers_know(&place->registers, STACK_FP));
}

static enum stack_stop walk(struct stack_walker *walker, struct stack_place *place,
                            struct stack_thread *thread)
{
    enum stack_stop stop = stack_dwarf_walk(walker->dwarf, place, thread);

    for (;;) {
        uint32_t depth = thread->depth;

        if (stop == STACK_BARE || stop == STACK_CUT)
            stop = stack_tables_walk(walker->tables, place, thread, stop);
        if (thread->depth > depth && (stop == STACK_BARE || stop == STACK_CUT))
            stop = stack_dwarf_walk(walker->dwarf, place, thread);
        else if (is_worth_a_guess(place, stop))
            stop = guess_on(walker, place, thread, stop);
        if (thread->depth == depth)
            return stop;
        if (stop == STACK_ROOT || stop == STACK_DEEP)
            return stop;
    }
}

bool stack_walk(struct stack_walker *walker, const struct stack_registers *registers,
                struct stack_thread *thread)
{
    struct stack_place place = { *registers, true };
    enum stack_stop stop;

    if (!thread->frames)
        thread->frames = malloc(STACKS_DEPTH_MAX * sizeof(*thread->frames));
    if (!thread->frames)
        return false;
    thread->depth = 0;
    thread->why[0] = '\0';
    stack_put(walker->stacks, thread, registers->value[STACK_PC], true, STACK_FOUND);
    stop = walk(walker, &place, thread);
    thread->complete = stop == STACK_ROOT;
    if (!thread->complete)
        say_why(walker, thread, &place, stop);
    return true;
}
