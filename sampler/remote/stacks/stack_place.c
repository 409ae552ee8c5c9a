#include "stack_place.h"

#include "stack_modules.h"

bool stack_put(const struct thread_stacks *stacks, struct stack_thread *thread, uint64_t pc,
               bool exact, enum stack_found found)
{
    uint64_t at = exact ? pc : pc - 1;
    const struct stack_module *module = stack_module_at(stacks, at);

    if (thread->depth == STACKS_DEPTH_MAX)
        return false;
    thread->frames[thread->depth++] = (struct stack_frame){
        .pc = at,
        .module = module ? (uint32_t)(module - stacks->modules) : STACKS_NO_MODULE,
        .offset = module ? at - module->bias : 0,
        .found = found,
    };
    return true;
}
