/*
 * ruby_objects.h - strings, classes, methods and names, as Ruby keeps them.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     0, or false: it is none, or cannot be read.
 */
#ifndef ISOSCOPE_RUBY_OBJECTS_H
#define ISOSCOPE_RUBY_OBJECTS_H

#include "ruby.h"

/* A method entry; all that is read of it. */
struct ruby_method {
    uint64_t flags, class, definition, called, owner;
};

/* Of an object's first word. */
enum {
    RUBY_TYPE = 0x1f,
    RUBY_TYPE_CLASS = 2,
    RUBY_TYPE_MODULE = 3,
    RUBY_TYPE_STRING = 5,
    RUBY_TYPE_ARRAY = 7,
    RUBY_TYPE_INNER = 0x1a,
    RUBY_INNER_KIND = 0xf01f, /* type, and which inner one */
    RUBY_INNER_SVAR = 2 << 12 | RUBY_TYPE_INNER,
    RUBY_INNER_METHOD = 6 << 12 | RUBY_TYPE_INNER,
    RUBY_INNER_ISEQ = 7 << 12 | RUBY_TYPE_INNER,
};

/* Bytes that are put, room at most. */
SIGNAL_SAFE uint32_t ruby_string(struct runtime_scan *scan, uint64_t string, char *out,
                                 uint32_t room);
SIGNAL_SAFE bool ruby_element(struct runtime_scan *scan, uint64_t array, uint64_t index,
                              uint64_t *out);
/* What an ID is the name of. */
SIGNAL_SAFE uint32_t ruby_id_name(struct runtime_scan *scan, uint32_t entry, uint64_t id, char *out,
                                  uint32_t room);
/* "Shape#", of a class's own methods "Shape."; 0: it has no name of its own. */
SIGNAL_SAFE uint32_t ruby_owner(struct runtime_scan *scan, uint32_t entry, uint64_t class,
                                char *out, uint32_t room);
SIGNAL_SAFE bool ruby_method(struct runtime_scan *scan, uint64_t object, struct ruby_method *out);

#endif
