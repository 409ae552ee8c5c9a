/*
 * inject_objects.h - the libraries of another process, as they are in its memory: their functions, and bytes of their code.
 *
 * By memory alone: a file may have been replaced since, or lie in another mount namespace.
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_INJECT_OBJECTS_H
#define ISOSCOPE_INJECT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_object {
    uint64_t base;           /* where its first bytes are mapped */
    uint64_t code, code_end; /* its first mapping with code */
};

/* The one whose file's name begins with this word. False: there is none. */
bool inject_object_find(struct inject_object *out, pid_t pid, const char *name);
/* The address of a function that it exports; 0: it does not. */
uint64_t inject_object_function(const struct inject_object *object, pid_t pid, const char *name);
/* Where these bytes stand in its code; 0: nowhere. */
uint64_t inject_object_bytes(const struct inject_object *object, pid_t pid, const uint8_t *bytes,
                             size_t count);
/* The mapping around an address. */
bool inject_mapping(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end,
                    bool *is_main_stack);

#endif
