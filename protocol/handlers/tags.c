/*
 * Samples by their tags.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../events/tagged_samples.h"
#include "../samples/tag_counters.h"
#include "../text/any_text.h"
#include "../text/tags.h"

/* _getTagProfile: the list on Observatory's isolate page, by itself. */
int handle_private_get_tag_profile(struct client *client,
                                   const struct private_get_tag_profile_params *params,
                                   struct reply *reply)
{
    json_t *profile = tag_counters_json(client->service->options.profile, params->isolate);

    if (profile)
        json_object_set_new(profile, "type", json_string(TYPE_TAG_PROFILE));
    return answer(client, reply, profile);
}

static void add_tag(void *context, const char *user_tag)
{
    tags_add(context, user_tag);
}

static json_t *names_json(const struct tags *tags)
{
    json_t *names = json_array();

    for (uint32_t i = 0; i < tags->count; i++)
        json_array_append_new(names, any_text(tags->names[i]));
    return names;
}

int handle_get_available_cached_cpu_samples(struct client *client, struct reply *reply)
{
    struct tags tags = { 0 };
    json_t *available = NULL;

    if (profile_user_tags(client->service->options.profile, add_tag, &tags) == 0 && !tags.failed)
        available = json_pack("{s:s, s:o}", "type", TYPE_AVAILABLE_CACHED_CPU_SAMPLES, "cacheNames",
                              names_json(&tags));
    tags_free(&tags);
    return answer(client, reply, available);
}

int handle_stream_cpu_samples_with_user_tag(
    struct client *client, const struct stream_cpu_samples_with_user_tag_params *params,
    struct reply *reply)
{
    size_t i;
    json_t *tag;

    json_array_foreach(params->user_tags, i, tag)
    {
        if (!json_is_string(tag))
            return fail_routing(client, RPC_INVALID_PARAMS,
                                "streamCpuSamplesWithUserTag: each of 'userTags' is a text");
    }
    if (tagged_samples_want(client, params->user_tags) < 0)
        return fail_routing(client, RPC_INTERNAL_ERROR, "out of memory");
    tagged_samples_send(client);
    return answer_success(client, reply);
}
