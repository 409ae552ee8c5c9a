#include "stack_tables.h"

#include "stack_modules.h"

#include "../../capture/unwind/unwind.h"
#include "../../profile/unwinding/table_source.h"

#include <stdlib.h>

struct stack_tables {
    const struct thread_stacks *stacks;
    struct stack_memory *memory;
    struct unwind_table **built; /* of each module */
    bool *asked;
    struct code_map *map; /* of those that are built */
    _Atomic uint32_t unloads;
    struct outer_frames outer_frames;
    struct unwind_sleeper sleeper;
    uint64_t frames[STACKS_DEPTH_MAX];
};

struct stack_tables *stack_tables_new(const struct thread_stacks *stacks,
                                      struct stack_memory *memory)
{
    struct stack_tables *tables = calloc(1, sizeof(*tables));

    if (tables)
        *tables = (struct stack_tables){ .stacks = stacks, .memory = memory };
    return tables;
}

void stack_tables_free(struct stack_tables *tables)
{
    if (!tables)
        return;
    for (uint32_t i = 0; tables->built && i < tables->stacks->module_count; i++)
        free(tables->built[i]);
    free(tables->built);
    free(tables->asked);
    code_map_free(tables->map);
    free(tables);
}

/* Once the modules are known. */
static bool reserve(struct stack_tables *tables)
{
    if (!tables->built)
        tables->built = calloc(tables->stacks->module_count, sizeof(*tables->built));
    if (!tables->asked)
        tables->asked = calloc(tables->stacks->module_count, sizeof(*tables->asked));
    return tables->built && tables->asked;
}

static bool map_built(struct stack_tables *tables)
{
    const struct thread_stacks *stacks = tables->stacks;

    code_map_free(tables->map);
    tables->map = code_map_new(stacks->module_count);
    if (!tables->map)
        return false;
    tables->map->unloads_now = &tables->unloads;
    for (uint32_t i = 0; i < stacks->module_count; i++)
        if (tables->built[i])
            tables->map->ranges[tables->map->count++] = (struct code_range){
                .start = stacks->modules[i].start,
                .end = stacks->modules[i].end,
                .bias = stacks->modules[i].bias,
                .number = i + 1,
                .permanent = true,
                .table = tables->built[i],
            };
    return true;
}

static bool has_table(struct stack_tables *tables, uint64_t pc)
{
    const struct stack_module *module = stack_module_at(tables->stacks, pc);
    bool stripped_go;
    size_t number;

    if (!module || !module->file || !reserve(tables))
        return false;
    number = (size_t)(module - tables->stacks->modules);
    if (!tables->asked[number]) {
        const struct module_file file = { .path = module->file,
                                          .build_id = module->build_id,
                                          .build_id_bytes = module->build_id_bytes };

        tables->asked[number] = true;
        if (!table_source_build(&file, &tables->built[number], &stripped_go) ||
            (tables->built[number] && !map_built(tables)))
            return false;
    }
    return tables->built[number];
}

static long read_memory(const void *context, void *out, uint64_t address, uint64_t bytes)
{
    return (long)stack_memory_get_some((struct stack_memory *)context, address, out, bytes);
}

static bool put_callers(struct stack_tables *tables, uint32_t depth, struct stack_thread *thread)
{
    for (uint32_t i = 1; i < depth; i++) {
        uint32_t number = FEED_FRAME_MODULE(tables->frames[i]);
        uint64_t pc = FEED_FRAME_OFFSET(tables->frames[i]) +
                      (number ? tables->stacks->modules[number - 1].bias : 0);

        /* It is the call's last byte already. */
        if (!stack_put(tables->stacks, thread, pc, true, STACK_FOUND))
            return false;
    }
    return true;
}

enum stack_stop stack_tables_walk(struct stack_tables *tables, struct stack_place *place,
                                  struct stack_thread *thread, enum stack_stop before)
{
    const struct stack_registers *registers = &place->registers;
    struct unwind_sleeper *sleeper = &tables->sleeper;
    const struct stack_range nowhere = { 0 };
    struct unwind_request request = { .stack = &nowhere, .outer_frames = &tables->outer_frames };
    struct unwind_result result;
    uint64_t pc = registers->value[STACK_PC] - (place->exact ? 0 : 1);
    ucontext_t all;

    if (!has_table(tables, pc))
        return before;
    *sleeper = (struct unwind_sleeper){ .read = read_memory, .read_context = tables->memory };
    sleeper->pc = registers->value[STACK_PC];
    sleeper->sp = registers->value[STACK_SP];
    sleeper->fp = registers->value[STACK_FP];
    sleeper->fp_known = stack_registers_know(registers, STACK_FP);
    if (place->exact && registers->known == stack_register_bit(STACK_REGISTERS) - 1) {
        stack_registers_context(registers->value, &all);
        sleeper->registers = &all;
    }
    tables->outer_frames = (struct outer_frames){ .walked = 1 };
    request.map = tables->map;
    request.frames_max = STACKS_DEPTH_MAX;
    unwind_asleep(&request, sleeper, tables->frames, &result);
    if (!put_callers(tables, result.depth, thread))
        return STACK_DEEP;
    *place = (struct stack_place){ stack_registers_few(sleeper->pc, sleeper->sp), false };
    if (sleeper->fp_known)
        stack_registers_put(&place->registers, STACK_FP, sleeper->fp);
    return result.end == FEED_END_ROOT ? STACK_ROOT : result.depth > 1 ? STACK_BARE : before;
}
