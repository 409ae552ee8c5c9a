#include "room_attach.h"

#include "../net/loop.h"
#include "../net/wake.h"

#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"
#include "../../sampler/remote/attached.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTACHED_MAX = 64 };

struct room_attach {
    struct profile *profile;
    const char *tables;
    struct wake *over; /* from the threads that sample */
    struct {
        pid_t pid;
        struct attached *attached;
    } list[ATTACHED_MAX];
    size_t count;
};

_Static_assert(SERVICE_VIA_AUTO == (int)ATTACHED_AUTO && SERVICE_VIA_PERF == (int)ATTACHED_PERF &&
                   SERVICE_VIA_SUSPEND == (int)ATTACHED_SUSPEND,
               "the words' order");

/* Root's service could attach to everybody's: those are in the rooms of their users. */
static bool is_own(pid_t pid)
{
    struct stat info;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return stat(path, &info) == 0 && info.st_uid == geteuid();
}

/* On a thread that samples. */
static void joined(void *context, pid_t pid, pid_t parent, const char *exe, int memfd)
{
    struct room_attach *attach = context;
    const struct profile_peer peer = { pid, parent, FEED_ORIGIN_EXEC, -1, -1, exe };

    profile_attach(attach->profile, memfd, &peer, NULL);
}

static void ended(void *context)
{
    struct room_attach *attach = context;

    wake_now(attach->over);
}

static void leave(struct room_attach *attach, size_t number)
{
    attached_free(attach->list[number].attached);
    attach->list[number] = attach->list[--attach->count];
}

static void leave_those_that_ended(void *context)
{
    struct room_attach *attach = context;

    for (size_t i = attach->count; i-- > 0;)
        if (attached_is_over(attach->list[i].attached))
            leave(attach, i);
}

static bool attach_to(void *context, int32_t pid, enum service_via via, char *problem, size_t size)
{
    struct room_attach *attach = context;
    const struct attached_options options = {
        .pid = pid,
        .via = (enum attached_via)via,
        .interpreted = true,
        .tables_path = profile_has_tables(attach->profile) ? attach->tables : NULL,
        .joined = joined,
        .ended = ended,
        .context = attach,
    };
    struct refusal why;

    leave_those_that_ended(attach);
    if (!is_own(pid)) {
        snprintf(problem, size, "process %d is not of this user, or has ended", (int)pid);
        return false;
    }
    if (attach->count == ATTACHED_MAX) {
        snprintf(problem, size, "%d processes are attached to already; leave one by _detach",
                 ATTACHED_MAX);
        return false;
    }
    if (!attached_new(&attach->list[attach->count].attached, &options, &why)) {
        snprintf(problem, size, "%s", why.text);
        return false;
    }
    attach->list[attach->count++].pid = pid;
    return true;
}

static bool detach_from(void *context, int32_t pid)
{
    struct room_attach *attach = context;

    for (size_t i = 0; i < attach->count; i++)
        if (attach->list[i].pid == pid) {
            leave(attach, i);
            return true;
        }
    return false;
}

/* False for a kernel's thread, which has no program. */
static bool read_name(pid_t pid, char *out, size_t size)
{
    char path[64], target[2];
    FILE *file;
    bool known;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (readlink(path, target, sizeof(target)) <= 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    known = file && fgets(out, (int)size, file);
    if (file)
        fclose(file);
    if (known)
        out[strcspn(out, "\n")] = '\0';
    return known;
}

static void tell_others(void *context, void (*tell)(void *to, int32_t pid, const char *name),
                        void *to)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    char name[32];

    (void)context;
    while (folder && (entry = readdir(folder))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

        if (pid > 0 && pid != getpid() && is_own(pid) && read_name(pid, name, sizeof(name)))
            tell(to, pid, name);
    }
    if (folder)
        closedir(folder);
}

int room_attach_new(struct room_attach **out, struct service_attacher *attacher)
{
    struct room_attach *attach = calloc(1, sizeof(*attach));

    if (!attach || wake_new(&attach->over) < 0) {
        free(attach);
        return -ISOSCOPE_NO_MEMORY;
    }
    *attacher = (struct service_attacher){ attach_to, detach_from, tell_others, attach };
    *out = attach;
    return 0;
}

int room_attach_begin(struct room_attach *attach, struct loop *loop, struct profile *profile,
                      const char *tables)
{
    attach->profile = profile;
    attach->tables = tables;
    return wake_watch(attach->over, loop, leave_those_that_ended, attach);
}

void room_attach_leave(struct room_attach *attach)
{
    while (attach && attach->count)
        leave(attach, attach->count - 1);
}

void room_attach_free(struct room_attach *attach)
{
    if (!attach)
        return;
    wake_free(attach->over);
    free(attach);
}
