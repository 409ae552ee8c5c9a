#include "stack_guess.h"

enum {
    FRAME_BYTES_MAX = 1 << 20,
    WORDS_MAX = 512,
    FUNCTION_BYTES_MAX = 1 << 14, /* so far behind its beginning a function is believed to reach */
};

/* callee: where a direct call goes; 0: not told by the instruction. */
static bool is_return_address(struct stack_memory *memory, uint64_t address, uint64_t *callee)
{
    uint8_t bytes[CALL_BYTES_MAX];

    return address > sizeof(bytes) &&
           stack_memory_get(memory, address - sizeof(bytes), bytes, sizeof(bytes)) &&
           call_ends(bytes, address, callee);
}

static void become(struct stack_place *place, uint64_t pc, uint64_t sp, uint64_t fp, bool fp_known)
{
    place->registers = stack_registers_few(pc, sp);
    if (fp_known)
        stack_registers_put(&place->registers, STACK_FP, fp);
    place->exact = false;
}

static bool by_frame_pointer(struct stack_memory *memory, struct stack_place *place)
{
    uint64_t fp = place->registers.value[STACK_FP], sp = place->registers.value[STACK_SP];
    uint64_t saved[2], callee; /* the caller's frame pointer, the return address */

    if (!stack_registers_know(&place->registers, STACK_FP) || fp % 8 || fp - sp > FRAME_BYTES_MAX ||
        !stack_memory_get(memory, fp, saved, sizeof(saved)) ||
        !is_return_address(memory, saved[1], &callee))
        return false;
    become(place, saved[1], fp + sizeof(saved), saved[0], true);
    return true;
}

/* By the call itself, or by a function that then jumps here. */
static bool leads_to(struct stack_memory *memory, uint64_t callee, uint64_t pc)
{
    const uint64_t first = pc < FUNCTION_BYTES_MAX ? 0 : pc - FUNCTION_BYTES_MAX + 1;
    uint8_t head[CALLEE_BYTES];

    return (callee >= first && callee <= pc) ||
           (stack_memory_get(memory, callee, head, sizeof(head)) &&
            jumps_to(head, callee, first, pc));
}

/* A call of another function than the one at pc may still have led here, by a jump at its end. */
static bool by_return_address(struct stack_memory *memory, struct stack_place *place)
{
    const struct stack_registers at = place->registers;
    uint64_t pc = at.value[STACK_PC], sp = at.value[STACK_SP], other_at = 0, other = 0;

    for (uint64_t word_at = (sp + 7) & ~UINT64_C(7), i = 0; i < WORDS_MAX; word_at += 8, i++) {
        uint64_t word, callee;

        if (!stack_memory_get(memory, word_at, &word, sizeof(word)))
            break;
        if (!is_return_address(memory, word, &callee))
            continue;
        if (!callee || leads_to(memory, callee, pc)) {
            become(place, word, word_at + 8, at.value[STACK_FP],
                   stack_registers_know(&at, STACK_FP));
            return true;
        }
        if (!other_at) {
            other_at = word_at;
            other = word;
        }
    }
    if (other_at)
        become(place, other, other_at + 8, at.value[STACK_FP], stack_registers_know(&at, STACK_FP));
    return other_at;
}

bool stack_guess(struct stack_memory *memory, struct stack_place *place, enum stack_found *found)
{
    *found = STACK_FRAME_POINTER;
    if (by_frame_pointer(memory, place))
        return true;
    *found = STACK_RETURN_ADDRESS;
    return by_return_address(memory, place);
}
