#include "otlp_attributes.h"

#include "otlp_fields.h"
#include "../text/protobuf.h"

static void put_value(struct json_text *bytes, uint32_t field, const char *text, uint64_t number)
{
    size_t value = protobuf_begin(bytes, field);

    if (text)
        protobuf_string(bytes, OTLP_ANY_STRING, text);
    else
        protobuf_uint(bytes, OTLP_ANY_INT, number);
    protobuf_end(bytes, value);
}

static void begin(struct otlp_dictionary dictionary, const char *key)
{
    dictionary.entry->length = 0;
    protobuf_uint(dictionary.entry, OTLP_ATTRIBUTE_KEY, interned_string(dictionary.strings, key));
}

/* Number 0 stands for none. */
static uint32_t place_of(struct otlp_dictionary dictionary)
{
    bool added;
    uint32_t number;

    if (dictionary.entry->failed)
        return 0;
    number = interned_put(dictionary.attributes, dictionary.entry->data, dictionary.entry->length,
                          &added) +
             1;
    if (added) {
        size_t message = protobuf_begin(dictionary.bytes, OTLP_DICTIONARY_ATTRIBUTE_TABLE);

        json_text_raw(dictionary.bytes, dictionary.entry->data, dictionary.entry->length);
        protobuf_end(dictionary.bytes, message);
    }
    return number;
}

uint32_t otlp_attribute(struct otlp_dictionary dictionary, const char *key, const char *text,
                        uint64_t number)
{
    begin(dictionary, key);
    put_value(dictionary.entry, OTLP_ATTRIBUTE_VALUE, text, number);
    return place_of(dictionary);
}

uint32_t otlp_attribute_list(struct otlp_dictionary dictionary, const char *key, const char *texts,
                             size_t stride, size_t count)
{
    struct json_text *bytes = dictionary.entry;
    size_t value, array;

    begin(dictionary, key);
    value = protobuf_begin(bytes, OTLP_ATTRIBUTE_VALUE);
    array = protobuf_begin(bytes, OTLP_ANY_ARRAY);
    for (size_t i = 0; i < count; i++)
        put_value(bytes, OTLP_ARRAY_VALUES, texts + i * stride, 0);
    protobuf_end(bytes, array);
    protobuf_end(bytes, value);
    return place_of(dictionary);
}

uint32_t otlp_frame_type(struct otlp_dictionary dictionary, const struct snapshot_library *library)
{
    /* Those whose word there is another one than ours. */
    static const struct {
        const char *ours, *theirs;
    } types[] = {
        { "python", "cpython" },
        { "java", "jvm" },
        { "javascript", "v8js" },
    };
    const char *type = library->runtime ? library->runtime : "native";

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (!strcmp(type, types[i].ours))
            type = types[i].theirs;
    return otlp_attribute(dictionary, "profile.frame.type", type, 0);
}

void otlp_key_value(struct json_text *bytes, uint32_t field, const char *key, const char *text,
                    uint64_t number)
{
    size_t attribute = protobuf_begin(bytes, field);

    protobuf_string(bytes, OTLP_KEY_VALUE_KEY, key);
    put_value(bytes, OTLP_KEY_VALUE_VALUE, text, number);
    protobuf_end(bytes, attribute);
}
