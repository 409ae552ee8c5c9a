#include "outbox.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

struct message {
    struct message *next;
    char *text; /* NULL: samples */
    size_t length, sent;
    bool begun, of_others;
    struct reply_stream *samples;
};

static void message_free(struct message *message)
{
    reply_stream_free(message->samples);
    free(message->text);
    free(message);
}

static size_t *account(struct outbox *outbox, const struct message *message)
{
    return message->of_others ? &outbox->others_bytes : &outbox->bytes;
}

static void append_message(struct outbox *outbox, struct message *message)
{
    if (outbox->last)
        outbox->last->next = message;
    else
        outbox->first = message;
    outbox->last = message;
    *account(outbox, message) += message->length;
    outbox->samples += message->samples != NULL;
}

static void drop_first(struct outbox *outbox)
{
    struct message *message = outbox->first;

    outbox->first = message->next;
    if (!outbox->first)
        outbox->last = NULL;
    *account(outbox, message) -= message->length;
    outbox->samples -= message->samples != NULL;
    message_free(message);
}

static int push_text(struct outbox *outbox, char *text, bool of_others)
{
    struct message *message = text ? calloc(1, sizeof(*message)) : NULL;

    if (!message) {
        free(text);
        return -ISOSCOPE_NO_MEMORY;
    }
    message->text = text;
    message->length = strlen(text);
    message->of_others = of_others;
    append_message(outbox, message);
    return 0;
}

int outbox_push_text(struct outbox *outbox, char *text)
{
    return push_text(outbox, text, false);
}

int outbox_push_others_text(struct outbox *outbox, char *text)
{
    return push_text(outbox, text, true);
}

int outbox_push_samples(struct outbox *outbox, struct reply_stream *samples)
{
    struct message *message = calloc(1, sizeof(*message));

    if (!message) {
        reply_stream_free(samples);
        return -ISOSCOPE_NO_MEMORY;
    }
    message->samples = samples;
    append_message(outbox, message);
    return 0;
}

void outbox_clear(struct outbox *outbox)
{
    while (outbox->first)
        drop_first(outbox);
}

static size_t read_text(struct message *message, char *buffer, size_t size, bool *ends)
{
    size_t left = message->length - message->sent, count = left < size ? left : size;

    memcpy(buffer, message->text + message->sent, count);
    message->sent += count;
    *ends = message->sent == message->length;
    return count;
}

/* Of a message that nothing came of. */
static enum outbox_read why_nothing(const struct message *message)
{
    return message->samples && !reply_stream_failed(message->samples) ? OUTBOX_WORKS : OUTBOX_BROKE;
}

enum outbox_read outbox_read(struct outbox *outbox, char *buffer, size_t size, int64_t *work,
                             size_t *count, bool *begins)
{
    struct message *message = outbox->first;
    bool ends;

    *count = message->samples ? reply_stream_read(message->samples, buffer, size, work, &ends)
                              : read_text(message, buffer, size, &ends);
    if (!*count)
        return why_nothing(message);
    *begins = !message->begun;
    message->begun = true;
    if (!ends)
        return OUTBOX_MORE;
    drop_first(outbox);
    return OUTBOX_ENDED;
}
