/*
 * The scripted profile behind saved.h and recorder.h. Where it is saved, two files are served: one
 * was cut off, and brings a state that no service has written. A session file of it is twelve bytes
 * in three steps; the state of the service is in it.
 */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/recorder.h"
#include "sampler/profile/saved.h"

#include <stdlib.h>
#include <string.h>

struct save {
    const struct profile *profile;
    bool partial_names_ok;
    char *state;
    unsigned steps;
};

static const char *const command[] = { "./spin", "10", NULL };
static const struct saved_session sessions[] = {
    { .path = "/home/user/spin.isoscope",
      .producer = "isoscope 1.2.3",
      .host = "desk",
      .command = command,
      .closed = true,
      .start_us = 1000000,
      .end_us = 3000000,
      .wall_start_us = 1600000000000000,
      .state = "{\"targetCPU\":\"arm64\",\"unsampled\":[{\"pid\":107,\"exe\":\"/bin/"
               "static\",\"reason\":\"it is static\",\"count\":2}]}" },
    { .path = "cut.isoscope",
      .producer = "isoscope 1.2.3",
      .host = "\xff",
      .missed = 5,
      .start_us = 1000000,
      .end_us = 5000000,
      .wall_start_us = 1600000001000000,
      .state = "{\"targetCPU\":\"\\u00e9\",\"unsampled\":[1,{\"exe\":2},{\"pid\":-1,\"exe\":\"a\","
               "\"reason\":\"b\",\"count\":1}]}" },
};

bool profile_is_saved(const struct profile *profile)
{
    return profile->saved;
}

size_t saved_sessions(const struct profile *profile, struct saved_session *out, size_t capacity)
{
    size_t count = profile->saved ? sizeof(sessions) / sizeof(*sessions) : 0;

    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = sessions[i];
    return count;
}

bool saved_damage(struct profile *profile, struct saved_problem *out)
{
    *out = (struct saved_problem){ 1, 4711, "checksum of block 'SMPL' is wrong" };
    return profile->damaged;
}

int64_t saved_now_us(const struct profile *profile)
{
    (void)profile;
    return sessions[1].end_us;
}

int save_begin(struct save **out, struct profile *profile, const struct session_options *options,
               bool partial_names_ok)
{
    struct save *save = calloc(1, sizeof(*save));

    if (!save)
        return -ISOSCOPE_NO_MEMORY;
    save->profile = profile;
    save->partial_names_ok = partial_names_ok;
    save->state = options->state(options->context);
    *out = save;
    return 0;
}

int save_step(struct save *save, const void **bytes, size_t *count)
{
    static const char first[] = "\x89ISO\r\n\x1a\n";

    if (save->profile->pending && !save->partial_names_ok)
        return -ISOSCOPE_PENDING;
    *bytes = save->steps == 0 ? first : save->steps == 2 ? "last" : "";
    *count = strlen(*bytes);
    return save->steps++ < 3 && save->state;
}

void save_free(struct save *save)
{
    if (save)
        free(save->state);
    free(save);
}
