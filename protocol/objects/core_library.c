#include "core_library.h"

#include "../generated/words.h"
#include "../text/any_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NULL_ID   "objects/null"
#define LOGGER_ID "objects/logger"
#define LOGGERS   LOGGER_ID "/"
#define LOGGER    "isoscope"

static const char *const classes[] = { "Object", "String", "Null", "_FunctionType" };
enum { CLASS_OBJECT, CLASS_STRING, CLASS_NULL, CLASS_FUNCTION_TYPE, CLASS_COUNT };

static json_t *library_ref(void)
{
    return json_pack("{s:s, s:b, s:s, s:s, s:s}", "type", TYPE_LIBRARY_REF, "fixedId", 1, "id",
                     CORE_LIBRARY_ID, "name", "dart.core", "uri", "dart:core");
}

static json_t *class_ref(int number)
{
    return json_pack("{s:s, s:b, s:s+, s:s, s:o}", "type", TYPE_CLASS_REF, "fixedId", 1, "id",
                     "classes/", classes[number], "name", classes[number], "library",
                     library_ref());
}

/* But for Object, of which they all are. */
static json_t *subclass_refs(void)
{
    json_t *list = json_array();

    for (int i = CLASS_OBJECT + 1; i < CLASS_COUNT; i++)
        json_array_append_new(list, class_ref(i));
    return list;
}

json_t *core_class_refs(void)
{
    json_t *list = subclass_refs();

    json_array_insert_new(list, 0, class_ref(CLASS_OBJECT));
    return list;
}

json_t *core_library_object(void)
{
    json_t *library = library_ref();
    json_auto_t *more = json_pack("{s:s, s:b, s:[], s:[], s:[], s:[], s:o}", "type", TYPE_LIBRARY,
                                  "debuggable", 0, "dependencies", "scripts", "variables",
                                  "functions", "classes", core_class_refs());

    json_object_update(library, more);
    return library;
}

/* Observatory reads the members with a leading '_' as booleans. */
static json_t *as_full(json_t *class, bool root)
{
    json_auto_t *more = json_pack(
        "{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:o*, s:[], s:[], s:[], s:o}",
        "type", TYPE_CLASS, "abstract", 0, "const", 0, "isSealed", 0, "isMixinClass", 0,
        "isBaseClass", 0, "isInterfaceClass", 0, "isFinal", 0, "_finalized", 1, "_implemented", 0,
        "_patch", 0, "traceAllocations", 0, "super", root ? NULL : class_ref(CLASS_OBJECT),
        "interfaces", "fields", "functions", "subclasses", root ? subclass_refs() : json_array());

    json_object_update(class, more);
    return class;
}

json_t *core_full_class(json_t *reference)
{
    return reference ? as_full(reference, false) : NULL;
}

json_t *core_class_object(const char *id)
{
    const char *slash = strchr(id, '/');

    for (int i = 0; slash && i < CLASS_COUNT; i++)
        if (!strcmp(slash + 1, classes[i]))
            return as_full(class_ref(i), i == CLASS_OBJECT);
    return NULL;
}

/* A text, or nothing, as clients expect values of the language. */
static json_t *instance(const char *id, int class, const char *kind)
{
    return json_pack("{s:s, s:s, s:o, s:i, s:s, s:s}", "type", TYPE_INSTANCE_REF, "_vmType", kind,
                     "class", class_ref(class), "identityHashCode", 0, "id", id, "kind", kind);
}

json_t *core_null(void)
{
    json_t *value = instance(NULL_ID, CLASS_NULL, "Null");

    json_object_set_new(value, "valueAsString", json_string("null"));
    return value;
}

static json_t *text(const char *id, const char *bytes)
{
    json_t *value = instance(id, CLASS_STRING, "String");

    json_object_set_new(value, "valueAsString", any_text(bytes));
    return value;
}

/* The parts of isoscope that log under a name of their own. */
static const char *const loggers[] = { "stall", "cpu" };
enum { LOGGER_COUNT = sizeof(loggers) / sizeof(*loggers) };

json_t *core_logger(const char *part)
{
    char id[64], name[64];

    if (!part)
        return text(LOGGER_ID, LOGGER);
    snprintf(id, sizeof(id), LOGGERS "%s", part);
    snprintf(name, sizeof(name), LOGGER ".%s", part);
    return text(id, name);
}

static json_t *numbered(const char *kind, uint64_t number, const char *bytes)
{
    char id[64];

    snprintf(id, sizeof(id), "%s%" PRIu64, kind, number);
    return text(id, bytes);
}

json_t *core_message(uint64_t number, const char *bytes)
{
    return numbered(CORE_MESSAGES, number, bytes);
}

json_t *core_error(uint64_t number, const char *bytes)
{
    return numbered(CORE_ERRORS, number, bytes);
}

json_t *core_signature(const char *function_id, const char *full_name)
{
    char id[96];
    json_t *value;

    snprintf(id, sizeof(id), CORE_SIGNATURES "%s", function_id);
    value = instance(id, CLASS_FUNCTION_TYPE, "FunctionType");
    json_object_set_new(value, "name", any_text(full_name));
    json_object_set_new(value, "parameters", json_array());
    return value;
}

json_t *core_full_value(json_t *reference)
{
    json_t *value = reference ? json_copy(reference) : NULL;

    json_decref(reference);
    if (value) {
        json_object_set_new(value, "type", json_string(TYPE_INSTANCE));
        json_object_set_new(value, "size", json_integer(0));
    }
    return value;
}

/* NULL: nobody logs by that id. */
static json_t *logger_of(const char *id)
{
    char known[64];

    for (int i = 0; i < LOGGER_COUNT; i++) {
        snprintf(known, sizeof(known), LOGGERS "%s", loggers[i]);
        if (!strcmp(id, known))
            return core_logger(loggers[i]);
    }
    return strcmp(id, LOGGER_ID) ? NULL : core_logger(NULL);
}

json_t *core_constant(const char *id)
{
    return core_full_value(strcmp(id, NULL_ID) ? logger_of(id) : core_null());
}
