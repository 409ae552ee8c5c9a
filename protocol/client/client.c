#include "client.h"

#include "../text/json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int service_refresh(struct service *service)
{
    return isolates_refresh(&service->isolates, service->options.profile, service->isolate_changed,
                            service);
}

void service_poll_in(struct service *service, int64_t us)
{
    if (!service->poll_in_us || us < service->poll_in_us)
        service->poll_in_us = us;
}

/* Copies whole characters only: a close frame holds UTF-8. */
static void copy_reason(char out[CLOSE_REASON_MAX + 1], const char *reason)
{
    size_t length = 0, left = strlen(reason);

    while (left) {
        size_t count = utf8_character((const unsigned char *)reason + length, left);

        if (!count || length + count > CLOSE_REASON_MAX)
            break;
        length += count;
        left -= count;
    }
    memcpy(out, reason, length);
    out[length] = '\0';
}

void client_dismiss(struct client *client, enum close_code code, const char *reason)
{
    if (client->closing_code)
        return;
    client->dismissed = true;
    client->closing_code = code;
    copy_reason(client->closing_reason, reason);
    client->streams = 0;
}

/* It gets nothing any more, so what it was owed need not be kept. */
void client_close(struct client *client, enum close_code code, const char *reason)
{
    if (client->closing_code)
        return;
    client->closing_code = code;
    copy_reason(client->closing_reason, reason);
    client->streams = 0;
    outbox_clear(&client->outbox);
}

/* None is read for it. Out of memory: it begins with the oldest. */
struct timeline_cursor timeline_end(const struct service *service)
{
    struct timeline_cursor cursor = { 0 };
    struct timeline_window window = { .since = &cursor };
    struct timeline *timeline = NULL;

    if (timeline_take(&timeline, service->options.profile, &window) == 0)
        cursor = timeline_cursor(timeline);
    timeline_free(timeline);
    return cursor;
}

void client_push_text(struct client *client, char *text)
{
    char reason[CLOSE_REASON_MAX];

    if (client->closing_code)
        return free(text);
    if (outbox_push_text(&client->outbox, text) < 0)
        return client_close(client, CLOSE_NO_MEMORY, "out of memory");
    if (client->outbox.bytes <= client->service->options.queue_bytes_max)
        return;
    snprintf(reason, sizeof(reason), "the client reads too slowly: %zu bytes wait for it",
             client->outbox.bytes);
    client_close(client, CLOSE_POLICY, reason);
}

bool client_has_room(const struct client *client, size_t length)
{
    size_t max = client->service->options.queue_bytes_max, used = client->outbox.others_bytes;

    return used <= max && length <= max - used;
}

void client_push_others_text(struct client *client, char *text)
{
    if (client->closing_code)
        return free(text);
    if (outbox_push_others_text(&client->outbox, text) < 0)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
}
