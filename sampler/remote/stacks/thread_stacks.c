#include "thread_stacks.h"

#include <stdlib.h>

void thread_stacks_free(struct thread_stacks *stacks)
{
    if (!stacks)
        return;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        free(stacks->threads[i].frames);
    for (uint32_t i = 0; i < stacks->module_count; i++) {
        free(stacks->modules[i].path);
        free(stacks->modules[i].file);
    }
    free(stacks->threads);
    free(stacks->modules);
    free(stacks);
}
