#include "log_records.h"

#include "event_json.h"
#include "streams.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../objects/core_library.h"

void log_record(struct service *service, const struct isolate *isolate,
                const struct log_words *words)
{
    int64_t now_ms = service_now_ms(service);
    uint64_t number = service->log_records++;
    json_t *event = isolate_event(KIND_LOGGING, isolate, now_ms);
    json_t *record = json_pack(
        "{s:s, s:I, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "type", TYPE_LOG_RECORD, "sequenceNumber",
        (json_int_t)number, "time", (json_int_t)now_ms, "level", (int)words->level, "loggerName",
        core_logger(words->logger), "message", core_message(number, words->message), "zone",
        core_null(), "error", words->error ? core_error(number, words->error) : core_null(),
        "stackTrace", core_null());

    streams_logged(service, event, record);
}
