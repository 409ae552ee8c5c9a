#include "room_push.h"

#include "../console/log_line.h"
#include "../push/push.h"
#include "../service/service_host.h"
#include "room_link.h"

#include <stdio.h>
#include <stdlib.h>

enum { ERROR_BYTES = 512 };

struct room_push {
    struct push_options options;
    struct push *push;
};

/* A user may have no right to read the headers: by its mode the admin says whose profiles go out. */
static bool complete(struct push_options *options, const struct room_begin *begin)
{
    char problem[ERROR_BYTES] = "there is no folder where they could wait";

    if (begin->state[0] &&
        (size_t)snprintf(options->folder, sizeof(options->folder), "%s/push", begin->state) <
            sizeof(options->folder) &&
        push_options_agree(options, problem, sizeof(problem)) == 0)
        return true;
    log_line("profiles of user %s are not pushed: %s", begin->user, problem);
    return false;
}

struct room_push *room_push_start(const struct push_options *options,
                                  const struct room_begin *begin, struct service_host *host)
{
    struct room_push *push = options->wanted ? malloc(sizeof(*push)) : NULL;
    struct push_plan plan;

    if (!push)
        return NULL;
    *push = (struct room_push){ .options = *options };
    if (!complete(&push->options, begin)) {
        free(push);
        return NULL;
    }
    push_label_add(&push->options.labels, "user", begin->user);
    plan = (struct push_plan){ .options = &push->options,
                               .program = begin->user,
                               .loop = host->loop,
                               .web = host->web,
                               .service = host->service };
    if (push_start(&push->push, &plan) < 0)
        log_line("profiles of user %s are not pushed", begin->user);
    return push;
}

void room_push_finish(struct room_push *push)
{
    if (push)
        push_finish(push->push);
}

bool room_push_runs(const struct room_push *push)
{
    return push && push_runs(push->push);
}

void room_push_stop(struct room_push *push)
{
    if (push)
        push_stop(push->push);
}

void room_push_free(struct room_push *push)
{
    if (!push)
        return;
    push_free(push->push);
    free(push);
}
