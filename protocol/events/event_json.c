#include "event_json.h"

#include "../generated/words.h"
#include "../isolates/isolates.h"

json_t *isolate_event(const char *kind, const struct isolate *isolate, int64_t timestamp_ms)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "type", TYPE_EVENT, "kind", kind, "isolateGroup",
                     isolate_group_ref(isolate->process), "isolate", isolate_ref(isolate),
                     "timestamp", (json_int_t)timestamp_ms);
}

json_t *symbols_json(const struct profile_symbols *symbols)
{
    return json_pack("{s:i, s:i}", "done", (int)symbols->done, "asked", (int)symbols->asked);
}
