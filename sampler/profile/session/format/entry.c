#include "entry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The bytes of the character there; 0: it is no UTF-8. */
static size_t character_bytes(const uint8_t *at)
{
    size_t count = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    uint32_t code = count == 1 ? at[0] : at[0] & (0x7fu >> count);
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

    if (count == 1)
        return 1;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < least[count] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : count;
}

static json_t *repaired(const char *bytes)
{
    char *text = malloc(3 * strlen(bytes) + 1), *to = text;
    json_t *string;

    if (!text)
        return NULL;
    while (*bytes) {
        size_t count = character_bytes((const uint8_t *)bytes);

        if (count)
            memcpy(to, bytes, count);
        else
            memcpy(to, replacement, 3);
        to += count ? count : 3;
        bytes += count ? count : 1;
    }
    string = json_stringn(text, (size_t)(to - text));
    free(text);
    return string;
}

json_t *entry_text_of(const char *bytes)
{
    json_t *string = bytes ? json_string(bytes) : json_null();

    return string ? string : repaired(bytes);
}

json_t *entry_uint_of(uint64_t number)
{
    return json_integer((json_int_t)number);
}

static int put_text(const char *text, size_t count, void *bytes)
{
    bytes_put(bytes, text, count);
    return 0;
}

void entry_dump(json_t *object, struct bytes *out)
{
    if (!object || json_dump_callback(object, put_text, out, JSON_COMPACT) < 0)
        out->failed = true;
    json_decref(object);
}

struct entry entry_of(const json_t *object, char *reason)
{
    struct entry entry = { object, reason, false };

    if (!json_is_object(object))
        entry_fail(&entry, "it is no JSON object");
    return entry;
}

void entry_fail(struct entry *entry, const char *format, ...)
{
    va_list words;

    if (entry->bad)
        return;
    entry->bad = true;
    va_start(words, format);
    vsnprintf(entry->reason, ENTRY_REASON_BYTES, format, words);
    va_end(words);
}

static int64_t number_of(struct entry *entry, const char *name, const json_t *value, int64_t least,
                         int64_t most)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < least || number > most) {
        entry_fail(entry, "'%s' is no number from %" PRId64 " to %" PRId64, name, least, most);
        return 0;
    }
    return number;
}

int64_t entry_int(struct entry *entry, const char *name, int64_t least, int64_t most)
{
    const json_t *value = json_object_get(entry->object, name);

    return value ? number_of(entry, name, value, least, most) : 0;
}

uint64_t entry_word(struct entry *entry, const char *name)
{
    return (uint64_t)entry_int(entry, name, INT64_MIN, INT64_MAX);
}

bool entry_flag(struct entry *entry, const char *name)
{
    const json_t *value = json_object_get(entry->object, name);

    if (value && !json_is_boolean(value))
        entry_fail(entry, "'%s' is neither true nor false", name);
    return json_is_true(value);
}

/* Also one that is null. */
static bool is_absent(const json_t *value)
{
    return !value || json_is_null(value);
}

const char *entry_text(struct entry *entry, const char *name)
{
    const json_t *value = json_object_get(entry->object, name);

    if (!is_absent(value) && !json_is_string(value))
        entry_fail(entry, "'%s' is no text", name);
    return json_string_value(value);
}

const json_t *entry_list(struct entry *entry, const char *name)
{
    const json_t *value = json_object_get(entry->object, name);

    if (!is_absent(value) && !json_is_array(value))
        entry_fail(entry, "'%s' is no list", name);
    return json_is_array(value) ? value : NULL;
}

const json_t *entry_object(struct entry *entry, const char *name)
{
    const json_t *value = json_object_get(entry->object, name);

    if (!is_absent(value) && !json_is_object(value))
        entry_fail(entry, "'%s' is no object", name);
    return json_is_object(value) ? value : NULL;
}

int64_t entry_int_at(struct entry *entry, const char *name, const json_t *list, size_t at,
                     int64_t least, int64_t most)
{
    return number_of(entry, name, json_array_get(list, at), least, most);
}
