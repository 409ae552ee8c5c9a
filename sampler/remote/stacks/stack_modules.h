/*
 * stack_modules.h - what is mapped from files with code, and where its unwind data is.
 *
 *   mappings, in order of their addresses -> stack_modules_add -> stacks.modules
 *
 * Threads    One at a time.
 * Errors     false: there is no memory. A file without an ELF head in memory is none.
 */
#ifndef ISOSCOPE_STACK_MODULES_H
#define ISOSCOPE_STACK_MODULES_H

#include "stack_memory.h"
#include "thread_stacks.h"

struct stack_mapping {
    uint64_t start, end, offset;
    uint64_t inode, device; /* 0, 0: told apart by path alone */
    const char *path;       /* "": of no file */
};

/* file: where the mapping's file can be opened here, allocated; NULL: nowhere. */
typedef char *stack_file_of(const void *context, const struct stack_mapping *mapping);

struct stack_modules {
    struct thread_stacks *stacks;
    struct stack_memory *memory;
    stack_file_of *file_of;
    const void *context;
    /* Of the last module: its file, and where its program headers say that it ends. */
    uint64_t inode, device, image_end;
};

bool stack_modules_add(struct stack_modules *modules, const struct stack_mapping *mapping);
/* The module that has the address; NULL: none. */
const struct stack_module *stack_module_at(const struct thread_stacks *stacks, uint64_t address);

#endif
