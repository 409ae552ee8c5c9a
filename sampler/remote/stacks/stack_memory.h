/*
 * stack_memory.h - memory of a process or of a core file, read page by page and kept.
 *
 * A copy of a thread's stack, made while it stood still, hides what is there by now.
 *
 * Ownership  stack_memory_free gives the pages back. The copy is the caller's.
 * Threads    One at a time.
 * Errors     false: not all of it is there.
 */
#ifndef ISOSCOPE_STACK_MEMORY_H
#define ISOSCOPE_STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_memory {
    /* Reads what is there from the address on; returns how many bytes, 0 for none. */
    size_t (*read)(const void *context, uint64_t address, void *out, size_t bytes);
    const void *context;
    const uint8_t *copy;
    uint64_t copy_at, copy_bytes; /* 0: there is none */
    struct stack_page *pages;
};

bool stack_memory_new(struct stack_memory *memory,
                      size_t (*read)(const void *, uint64_t, void *, size_t), const void *context);
void stack_memory_free(struct stack_memory *memory);
/* Returns how many bytes there were. */
size_t stack_memory_get_some(struct stack_memory *memory, uint64_t address, void *out,
                             size_t bytes);
bool stack_memory_get(struct stack_memory *memory, uint64_t address, void *out, size_t bytes);
/* Pages of before are read again: threads have run since. */
void stack_memory_forget(struct stack_memory *memory);

#endif
