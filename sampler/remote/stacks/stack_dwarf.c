#include "stack_dwarf.h"

#include "stack_modules.h"

#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>

struct stack_dwarf {
    unw_addr_space_t space;
    const struct thread_stacks *stacks;
    struct stack_memory *memory;
    const struct stack_registers *registers;
    bool bare;       /* this step met code without unwind data */
    uint64_t unread; /* memory that this step could not read; 0: none */
    char why[128];
};

/* Exported by libunwind, in no header of its own. Source: libunwind's dwarf.h. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
                                       unw_proc_info_t *out, int need_unwind_info, void *dwarf);

enum { TABLE_ENTRY_BYTES = 8 };

static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *out,
                          int need_unwind_info, void *context)
{
    struct stack_dwarf *dwarf = context;
    const struct stack_module *module = stack_module_at(dwarf->stacks, pc);
    unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
    int answer = -UNW_ENOINFO;

    if (module && module->entries) {
        table.start_ip = module->start;
        table.end_ip = module->end;
        table.u.rti.segbase = module->header;
        table.u.rti.table_data = module->table;
        table.u.rti.table_len = module->entries * TABLE_ENTRY_BYTES / sizeof(unw_word_t);
        answer =
            UNW_OBJ(dwarf_search_unwind_table)(space, pc, &table, out, need_unwind_info, context);
    }
    dwarf->bare |= answer < 0;
    return answer;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
    (void)space, (void)info, (void)context;
}

static int no_dynamic_info(unw_addr_space_t space, unw_word_t *address, void *context)
{
    (void)space, (void)address, (void)context;
    return -UNW_ENOINFO;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                         void *context)
{
    struct stack_dwarf *dwarf = context;

    (void)space;
    if (!write && stack_memory_get(dwarf->memory, address, value, sizeof(*value)))
        return 0;
    dwarf->unread = address;
    return -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
                           int write, void *context)
{
    const struct stack_dwarf *dwarf = context;

    (void)space;
    if (write || number < 0 || number >= STACK_REGISTERS ||
        !stack_registers_know(dwarf->registers, number))
        return -UNW_EBADREG;
    *value = dwarf->registers->value[number];
    return 0;
}

static int no_vector_registers(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
                               int write, void *context)
{
    (void)space, (void)number, (void)value, (void)write, (void)context;
    return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
    (void)space, (void)cursor, (void)context;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t address, char *name, size_t bytes,
                   unw_word_t *offset, void *context)
{
    (void)space, (void)address, (void)name, (void)bytes, (void)offset, (void)context;
    return -UNW_ENOINFO;
}

struct stack_dwarf *stack_dwarf_new(const struct thread_stacks *stacks, struct stack_memory *memory)
{
    static unw_accessors_t accessors = {
        .find_proc_info = find_proc_info,
        .put_unwind_info = put_unwind_info,
        .get_dyn_info_list_addr = no_dynamic_info,
        .access_mem = access_memory,
        .access_reg = access_register,
        .access_fpreg = no_vector_registers,
        .resume = no_resume,
        .get_proc_name = no_name,
    };
    struct stack_dwarf *dwarf = calloc(1, sizeof(*dwarf));

    if (!dwarf)
        return NULL;
    dwarf->stacks = stacks;
    dwarf->memory = memory;
    dwarf->space = unw_create_addr_space(&accessors, 0);
    if (!dwarf->space) {
        free(dwarf);
        return NULL;
    }
    unw_set_caching_policy(dwarf->space, UNW_CACHE_GLOBAL);
    return dwarf;
}

void stack_dwarf_free(struct stack_dwarf *dwarf)
{
    if (!dwarf)
        return;
    unw_destroy_addr_space(dwarf->space);
    free(dwarf);
}

const char *stack_dwarf_why(const struct stack_dwarf *dwarf)
{
    return dwarf->why;
}

static enum stack_stop cut(struct stack_dwarf *dwarf, int answer)
{
    if (answer == -UNW_EBADREG)
        snprintf(dwarf->why, sizeof(dwarf->why),
                 "a register is needed that the kernel does not tell of a sleeping thread");
    else if (dwarf->unread)
        snprintf(dwarf->why, sizeof(dwarf->why), "there is no memory at 0x%llx",
                 (unsigned long long)dwarf->unread);
    else
        snprintf(dwarf->why, sizeof(dwarf->why), "its unwind data leads nowhere (libunwind: %s)",
                 unw_strerror(answer));
    return STACK_CUT;
}

static struct stack_registers registers_of(unw_cursor_t *cursor)
{
    unw_word_t pc = 0, sp = 0, fp;
    struct stack_registers out;

    unw_get_reg(cursor, UNW_REG_IP, &pc);
    unw_get_reg(cursor, UNW_REG_SP, &sp);
    out = stack_registers_few(pc, sp);
    if (unw_get_reg(cursor, STACK_FP, &fp) == 0)
        stack_registers_put(&out, STACK_FP, fp);
    return out;
}

/* Where nothing is known of the code, libunwind would try frame pointers by itself: stack_guess.h does so, and says it. */
static int step(struct stack_dwarf *dwarf, unw_cursor_t *cursor, bool signal_frame)
{
    int answer;

    dwarf->bare = false;
    dwarf->unread = 0;
    answer = unw_step(cursor);
    dwarf->bare &= !signal_frame;
    return answer;
}

enum stack_stop stack_dwarf_walk(struct stack_dwarf *dwarf, struct stack_place *place,
                                 struct stack_thread *thread)
{
    const struct stack_registers began = place->registers;
    unw_cursor_t cursor;
    int answer;

    dwarf->registers = &began;
    answer = unw_init_remote(&cursor, dwarf->space, dwarf);
    if (answer < 0)
        return cut(dwarf, answer);
    for (;;) {
        bool signal_frame = unw_is_signal_frame(&cursor) > 0;
        struct stack_registers caller;

        answer = step(dwarf, &cursor, signal_frame);
        if (dwarf->bare)
            return STACK_BARE;
        if (answer < 0)
            return cut(dwarf, answer);
        caller = registers_of(&cursor);
        if (answer == 0 || !caller.value[STACK_PC])
            return STACK_ROOT;
        if (caller.value[STACK_PC] == place->registers.value[STACK_PC] &&
            caller.value[STACK_SP] == place->registers.value[STACK_SP])
            return cut(dwarf, -UNW_EBADFRAME);
        *place = (struct stack_place){ caller, signal_frame };
        if (!stack_put(dwarf->stacks, thread, caller.value[STACK_PC], signal_frame, STACK_FOUND))
            return STACK_DEEP;
    }
}
