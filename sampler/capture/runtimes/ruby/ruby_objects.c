#include "ruby_objects.h"

enum {
    NOT_EMBEDDED = 1 << 13, /* of a string */
    EMBEDDED = 1 << 13,     /* of an array */
    STRING_SHIFT = 14,      /* of an embedded one's length */
    STRING_LENGTHS = 31,
    SINGLETON = 1 << 12, /* of a class */
    ID_SCOPE_SHIFT = 4,
    ID_SCOPE = 0xe, /* 0: of a local name, or of Ruby's own */
    NAMES_TOGETHER = 512,
    VARIABLES_MAX = 256,
};

uint32_t ruby_string(struct runtime_scan *scan, uint64_t string, char *out, uint32_t room)
{
    struct {
        uint64_t flags, class, length, text;
    } object;
    uint64_t length;

    if (!guarded_read(&scan->memory, &object, string, sizeof object) ||
        (object.flags & RUBY_TYPE) != RUBY_TYPE_STRING)
        return 0;
    length =
        object.flags & NOT_EMBEDDED ? object.length : object.flags >> STRING_SHIFT & STRING_LENGTHS;
    if (length > room)
        length = room;
    return guarded_read(&scan->memory, out,
                        object.flags & NOT_EMBEDDED ? object.text : string + 2 * sizeof string,
                        length)
               ? (uint32_t)length
               : 0;
}

bool ruby_element(struct runtime_scan *scan, uint64_t array, uint64_t index, uint64_t *out)
{
    struct {
        uint64_t flags, class, length, shared, elements;
    } object;

    if (!guarded_read(&scan->memory, &object, array, sizeof object) ||
        (object.flags & RUBY_TYPE) != RUBY_TYPE_ARRAY)
        return false;
    if (object.flags & EMBEDDED)
        return index < 3 && guarded_word(&scan->memory, array + (2 + index) * sizeof index, out);
    return index < object.length &&
           guarded_word(&scan->memory, object.elements + index * sizeof index, out);
}

uint32_t ruby_id_name(struct runtime_scan *scan, uint32_t entry, uint64_t id, char *out,
                      uint32_t room)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint64_t serial =
        (uint32_t)(id > words[RUBY_ID_LAST_OPERATOR] ? id >> ID_SCOPE_SHIFT : id);
    uint64_t all, some, name;

    return words[RUBY_NAMES] && guarded_word(&scan->memory, words[RUBY_NAMES], &all) &&
                   ruby_element(scan, all, serial / NAMES_TOGETHER, &some) &&
                   ruby_element(scan, some, serial % NAMES_TOGETHER * 2, &name)
               ? ruby_string(scan, name, out, room)
               : 0;
}

struct variables {
    uint64_t count, first, end, at;
};

static SIGNAL_SAFE bool variables_of(struct runtime_scan *scan, const uint64_t *words,
                                     uint64_t class, struct variables *out)
{
    struct {
        uint64_t head[2], count, bins, first, end, at;
    } table;
    uint64_t extra, variables;

    if (!guarded_word(&scan->memory, class + words[RUBY_CLASS_EXTRA], &extra) ||
        !guarded_word(&scan->memory, extra + words[RUBY_EXTRA_VARIABLES], &variables) ||
        !guarded_read(&scan->memory, &table, variables, sizeof table))
        return false;
    *out = (struct variables){ table.count, table.first, table.end, table.at };
    if (out->end > out->first + VARIABLES_MAX)
        out->end = out->first + VARIABLES_MAX;
    return true;
}

/* Classes keep what they are called among their variables, by a name that no program can have: so is
 * what a singleton class belongs to. Of those of Ruby's own the first that is of one of these types. */
static SIGNAL_SAFE uint64_t own_variable(struct runtime_scan *scan, const uint64_t *words,
                                         uint64_t class, uint32_t type, uint32_t other_type)
{
    struct {
        uint64_t hash, id, value;
    } variable;
    struct variables variables;
    uint64_t flags;

    if (!variables_of(scan, words, class, &variables))
        return 0;
    for (uint64_t i = variables.first; i < variables.end; i++) {
        if (!guarded_read(&scan->memory, &variable, variables.at + i * sizeof variable,
                          sizeof variable))
            return 0;
        if (variable.id & ID_SCOPE || variable.value & 7 ||
            !guarded_word(&scan->memory, variable.value, &flags))
            continue;
        if ((flags & RUBY_TYPE) == type || (flags & RUBY_TYPE) == other_type)
            return variable.value;
    }
    return 0;
}

uint32_t ruby_owner(struct runtime_scan *scan, uint32_t entry, uint64_t class, char *out,
                    uint32_t room)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t flags, attached = class;
    uint32_t bytes;
    char separator = '#';

    if (!guarded_word(&scan->memory, class, &flags))
        return 0;
    if ((flags & RUBY_TYPE) == RUBY_TYPE_CLASS && flags & SINGLETON) {
        attached = own_variable(scan, words, class, RUBY_TYPE_CLASS, RUBY_TYPE_MODULE);
        separator = '.';
    } else if ((flags & RUBY_TYPE) != RUBY_TYPE_CLASS && (flags & RUBY_TYPE) != RUBY_TYPE_MODULE) {
        return 0;
    }
    if (!attached || room < 2)
        return 0;
    bytes =
        ruby_string(scan, own_variable(scan, words, attached, RUBY_TYPE_STRING, RUBY_TYPE_STRING),
                    out, room - 1);
    /* One that is only for now is "#<Class:0x...>". */
    if (!bytes || out[0] == '#')
        return 0;
    out[bytes] = separator;
    return bytes + 1;
}

bool ruby_method(struct runtime_scan *scan, uint64_t object, struct ruby_method *out)
{
    if (!guarded_read(&scan->memory, out, object, sizeof *out))
        return false;
    /* $~ and $_ of a method stand before it. */
    if ((out->flags & RUBY_INNER_KIND) == RUBY_INNER_SVAR &&
        !guarded_read(&scan->memory, out, out->class, sizeof *out))
        return false;
    return (out->flags & RUBY_INNER_KIND) == RUBY_INNER_METHOD;
}
