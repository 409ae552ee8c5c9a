#include "tag_counters.h"

#include "sample_words.h"

json_t *tag_counters_json(struct profile *profile, const struct isolate *isolate)
{
    uint64_t counts[FEED_STATE_COUNT + 1];
    json_t *names, *counters;

    if (profile_states(profile, isolate->process->id, isolate->tid, counts) < 0)
        return NULL;
    names = json_array();
    counters = json_array();
    for (int state = 0; state <= FEED_STATE_COUNT; state++) {
        json_array_append_new(names, json_string(sample_vm_tag((uint8_t)state)));
        json_array_append_new(counters, json_integer((json_int_t)counts[state]));
    }
    return json_pack("{s:o, s:o}", "names", names, "counters", counters);
}
