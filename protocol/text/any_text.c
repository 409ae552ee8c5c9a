#include "any_text.h"

#include "json_writer.h"

json_t *any_text(const char *bytes)
{
    struct json_text text = { 0 };
    json_t *string = NULL;

    json_text_string(&text, bytes);
    if (!text.failed)
        string = json_loadb(text.data, text.length, JSON_DECODE_ANY, NULL);
    json_text_free(&text);
    return string;
}
