#include "jobs.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FRAMES_MIN = 1024 };

/* NULL: there is none. */
static struct code_request *take_code(struct jobs *jobs)
{
    struct code_request *request = jobs->codes;

    if (request)
        jobs->codes = request->next;
    return request;
}

void jobs_free(struct jobs *jobs)
{
    struct code_request *request;

    while ((request = take_code(jobs)))
        code_request_release(request);
    free(jobs->frames.frames);
    *jobs = (struct jobs){ 0 };
}

static void begin_job(struct jobs *jobs, struct module *module)
{
    jobs->asked += !module->asked;
    jobs->done += !module->asked;
    module->asked = true;
    jobs->done -= module->jobs++ == 0;
}

void jobs_finish(struct jobs *jobs, struct module *module)
{
    jobs->done += --module->jobs == 0;
    jobs->finished++;
}

bool jobs_idle(const struct jobs *jobs)
{
    return jobs->done == jobs->asked;
}

bool jobs_add_module(struct jobs *jobs, struct module *module)
{
    uint32_t unread = MODULE_NAMES_UNREAD;

    /* The worker may be reading it for a frame of its own accord: then it needs no place. */
    if (!atomic_compare_exchange_strong(&module->names, &unread, MODULE_NAMES_WANTED))
        return false;
    begin_job(jobs, module);
    jobs->queue[(jobs->first + jobs->count++) % MODULES_MAX] = module;
    return true;
}

bool jobs_add_frame(struct jobs *jobs, struct module *module, uint64_t frame)
{
    struct job_frames *frames = &jobs->frames;

    if (frames->count == frames->capacity) {
        uint32_t capacity = frames->capacity ? frames->capacity * 2 : FRAMES_MIN;
        uint64_t *moved = reallocarray(frames->frames, capacity, sizeof(*moved));

        if (!moved)
            return false;
        frames->frames = moved;
        frames->capacity = capacity;
    }
    frames->frames[frames->count++] = frame;
    begin_job(jobs, module);
    return true;
}

void jobs_add_code(struct jobs *jobs, struct code_request *request)
{
    struct code_request **end = &jobs->codes;

    while (*end)
        end = &(*end)->next;
    *end = request;
    begin_job(jobs, request->module);
}

bool jobs_take(struct jobs *jobs, struct job *out)
{
    *out = (struct job){ 0 };
    if (jobs->count) {
        out->module = jobs->queue[jobs->first];
        jobs->first = (jobs->first + 1) % MODULES_MAX;
        jobs->count--;
        return true;
    }
    if ((out->code = take_code(jobs)))
        return true;
    out->frames = jobs->frames;
    jobs->frames = (struct job_frames){ 0 };
    return out->frames.count > 0;
}
