/*
 * core_library.h - the few things of Dart's core library that answers refer to: the classes of a
 * text, of null and of a function's type, and values of them. Clients follow every id that they
 * are given; Observatory's class tree wants a class Object of dart:core to grow from.
 *
 *   getObject of "classes/String" -> core_class_object; of "objects/null" -> core_constant
 *
 * Ownership  JSON is new; NULL: nothing has the id, or out of memory.
 */
#ifndef ISOSCOPE_CORE_LIBRARY_H
#define ISOSCOPE_CORE_LIBRARY_H

#include <jansson.h>
#include <stdint.h>

#define CORE_LIBRARY_ID "libraries/@core"

/* What an id begins with: then a function's id, or the number of a record. */
#define CORE_SIGNATURES "objects/signatures/"
#define CORE_MESSAGES   "objects/messages/"
#define CORE_ERRORS     "objects/errors/"

json_t *core_library_object(void); /* Library */
json_t *core_class_refs(void);     /* a list of all: @Class */
json_t *core_class_object(const char *id);
/* An @Class as Class; takes it over, NULL is fine. */
json_t *core_full_class(json_t *reference);

/* @Instance */
json_t *core_null(void);
json_t *core_logger(const char *part); /* "stall": isoscope.stall; NULL: isoscope */
json_t *core_message(uint64_t number, const char *text);
json_t *core_error(uint64_t number, const char *text);
json_t *core_signature(const char *function_id, const char *full_name);

/* An @Instance as Instance; takes it over, NULL is fine. */
json_t *core_full_value(json_t *reference);
/* Instance, of one that is always the same. */
json_t *core_constant(const char *id);

#endif
