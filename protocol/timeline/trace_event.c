#include "trace_event.h"

#include "timeline_words.h"

/* The phase of what has no sides. */
static const char *phase_of_whole(const struct timeline_event *event)
{
    switch (event->kind) {
    case TIMELINE_SLICE:
        return event->mark == TIMELINE_NO_BEGIN ? "i" : "X";
    case TIMELINE_INSTANT:
        return "i";
    case TIMELINE_ASYNC_BEGIN:
        return "b";
    case TIMELINE_ASYNC_INSTANT:
        return "n";
    case TIMELINE_ASYNC_END:
        return "e";
    case TIMELINE_FLOW_BEGIN:
        return "s";
    case TIMELINE_FLOW_STEP:
        return "t";
    case TIMELINE_FLOW_END:
        return "f";
    case TIMELINE_COUNTER:
        return "C";
    case TIMELINE_FRAME:
    case TIMELINE_KINDS:
        break;
    }
    return "X";
}

static const char *phase_of(const struct timeline_event *event, enum timeline_side side)
{
    if (side == TIMELINE_SIDE_WHOLE)
        return phase_of_whole(event);
    if (event->kind == TIMELINE_FRAME)
        return side == TIMELINE_SIDE_BEGIN ? "b" : "e";
    return side == TIMELINE_SIDE_BEGIN ? "B" : "E";
}

static int64_t end_us(const struct timeline_event *event)
{
    return (event->start_ns + (int64_t)event->duration_ns) / 1000;
}

static const char *name_of(const struct timeline_event *event)
{
    return event->mark == TIMELINE_NO_BEGIN ? "(end without a begin)" : event->name;
}

/* What only some phases have. */
static void put_of_phase(struct json_text *text, const struct timeline_event *event, char phase)
{
    switch (phase) {
    case 'X':
        json_text_member(text, ",\"dur\":", end_us(event) - event->start_ns / 1000);
        break;
    case 'i':
        return json_text_literal(text, ",\"s\":\"t\"");
    case 'f':
    case 's':
    case 't': /* each belongs to the slice around it */
        json_text_literal(text, ",\"bp\":\"e\"");
        break;
    }
    if (!timeline_kind_has_id(event->kind))
        return;
    json_text_literal(text, ",\"id\":");
    timeline_put_id(text, event->id);
}

static void put_argument(struct json_text *text, const struct timeline_argument *argument,
                         bool *any)
{
    json_text_comma(text, any);
    json_text_string(text, argument->name);
    json_text_literal(text, ":");
    timeline_put_value(text, argument);
}

static void put_isolate(struct json_text *text, const struct timeline_event *event, bool *any)
{
    json_text_literal(text, "\"isolateId\":\"isolates/");
    json_text_uint(text, event->process_id);
    json_text_literal(text, "\",\"isolateGroupId\":\"isolateGroups/");
    json_text_uint(text, event->process_id);
    json_text_literal(text, "\"");
    *any = true;
}

/* An end's are told with its begin. */
static void put_arguments(struct json_text *text, const struct timeline_event *event,
                          enum timeline_side side)
{
    const char *mark = timeline_mark_word(event->mark);
    bool any = false;

    json_text_literal(text, ",\"args\":{");
    if (event->kind != TIMELINE_COUNTER)
        put_isolate(text, event, &any);
    if (mark && side != TIMELINE_SIDE_END) {
        json_text_literal(text, ",\"_mark\":");
        json_text_string(text, mark);
    }
    for (uint32_t i = 0; side != TIMELINE_SIDE_END && i < event->argument_count; i++)
        put_argument(text, &event->arguments[i], &any);
    json_text_literal(text, "}}");
}

void trace_event_put(struct json_text *text, const struct timeline_event *event,
                     enum timeline_side side, int32_t pid)
{
    const char *phase = phase_of(event, side);

    json_text_literal(text, "{\"name\":");
    json_text_string(text, name_of(event));
    json_text_literal(text, ",\"cat\":");
    json_text_string(text, event->stream);
    json_text_member(text, ",\"tid\":", event->tid);
    json_text_member(text, ",\"pid\":", pid);
    json_text_member(
        text, ",\"ts\":", side == TIMELINE_SIDE_END ? end_us(event) : event->start_ns / 1000);
    json_text_literal(text, ",\"ph\":\"");
    json_text_raw(text, phase, 1);
    json_text_literal(text, "\"");
    put_of_phase(text, event, *phase);
    put_arguments(text, event, side);
}

void trace_event_put_name(struct json_text *text, int32_t pid, int32_t tid, const char *name)
{
    if (tid)
        json_text_literal(text, "{\"name\":\"thread_name\",\"ph\":\"M\"");
    else
        json_text_literal(text, "{\"name\":\"process_name\",\"ph\":\"M\"");
    json_text_member(text, ",\"pid\":", pid);
    json_text_member(text, ",\"tid\":", tid ? tid : pid);
    json_text_literal(text, ",\"args\":{\"name\":");
    json_text_string(text, name);
    json_text_literal(text, "}}");
}
