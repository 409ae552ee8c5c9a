#include "timeline_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *const timeline_kind_words[TIMELINE_KINDS] = {
    [TIMELINE_SLICE] = "Slice",
    [TIMELINE_INSTANT] = "Instant",
    [TIMELINE_ASYNC_BEGIN] = "AsyncBegin",
    [TIMELINE_ASYNC_INSTANT] = "AsyncInstant",
    [TIMELINE_ASYNC_END] = "AsyncEnd",
    [TIMELINE_FLOW_BEGIN] = "FlowBegin",
    [TIMELINE_FLOW_STEP] = "FlowStep",
    [TIMELINE_FLOW_END] = "FlowEnd",
    [TIMELINE_COUNTER] = "Counter",
    [TIMELINE_FRAME] = "Frame",
};

const char *timeline_mark_word(enum timeline_mark mark)
{
    switch (mark) {
    case TIMELINE_OPEN:
        return "Open";
    case TIMELINE_CUT_OFF:
        return "CutOff";
    case TIMELINE_NO_BEGIN:
        return "NoBegin";
    case TIMELINE_WHOLE:
        break;
    }
    return NULL;
}

static void put_double(struct json_text *text, double number)
{
    char digits[32];
    int length;

    if (isnan(number))
        return json_text_literal(text, "\"NaN\"");
    if (isinf(number))
        return json_text_string(text, number > 0 ? "Infinity" : "-Infinity");
    length = snprintf(digits, sizeof(digits), "%.17g", number);
    json_text_raw(text, digits, (size_t)length);
}

/* Readers have 64-bit integers with a sign. */
static void put_count(struct json_text *text, uint64_t count)
{
    if (count <= INT64_MAX)
        return json_text_uint(text, count);
    json_text_literal(text, "\"");
    json_text_uint(text, count);
    json_text_literal(text, "\"");
}

void timeline_put_value(struct json_text *text, const struct timeline_argument *argument)
{
    switch (argument->type) {
    case FEED_ARGUMENT_INT:
        return json_text_int(text, argument->integer);
    case FEED_ARGUMENT_UINT:
        return put_count(text, argument->count);
    case FEED_ARGUMENT_DOUBLE:
        return put_double(text, argument->number);
    case FEED_ARGUMENT_TEXT:
        return json_text_string(text, argument->text);
    case FEED_ARGUMENT_TYPES:
        break;
    }
}

void timeline_put_id(struct json_text *text, uint64_t id)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "\"%" PRIx64 "\"", id);

    json_text_raw(text, digits, (size_t)length);
}

double timeline_number(const struct timeline_argument *argument)
{
    switch (argument->type) {
    case FEED_ARGUMENT_INT:
        return (double)argument->integer;
    case FEED_ARGUMENT_UINT:
        return (double)argument->count;
    case FEED_ARGUMENT_DOUBLE:
        return argument->number;
    case FEED_ARGUMENT_TEXT:
    case FEED_ARGUMENT_TYPES:
        break;
    }
    return 0;
}
