#include "client/client.h"
#include "text/json_writer.h"

#include <string.h>

static void write_argument(struct json_text *text, const char *argument, bool first)
{
    size_t name = strcspn(argument, "=");

    if (!first)
        json_text_literal(text, ",");
    json_text_literal(text, "\"");
    json_text_escaped(text, argument, name);
    json_text_literal(text, "\":");
    json_text_string(text, argument[name] ? argument + name + 1 : "");
}

/* By way of text: one reader for all requests, and every parameter is a string, as in the VM. */
void client_receive_get(struct client *client, const char *method, const char *const *arguments,
                        size_t count)
{
    struct json_text text = { 0 };

    client->by_get = true;
    json_text_literal(&text, "{\"id\":\"\",\"method\":");
    json_text_string(&text, method);
    json_text_literal(&text, ",\"params\":{");
    for (size_t i = 0; i < count; i++)
        write_argument(&text, arguments[i], i == 0);
    json_text_literal(&text, "}}");
    if (text.failed)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
    else
        client_receive(client, text.data, text.length);
    json_text_free(&text);
}
