#include "inject_checks.h"

#include "inject_objects.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/maps.h"
#include "../../capture/system/memory.h"
#include "../../feed/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_LATELY_US INT64_C(2000000)

enum { PATH_BYTES = 4608, STATUS_BYTES = 8192, GROUPS_MAX = 256 };

#define BY_PERF "; --via perf needs nothing of that"

static bool read_status(pid_t pid, char out[STATUS_BYTES])
{
    char path[64];
    size_t got = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    if (file) {
        got = fread(out, 1, STATUS_BYTES - 1, file);
        fclose(file);
    }
    out[got] = '\0';
    return got;
}

static const char *field(const char *status, const char *word)
{
    const char *at = strstr(status, word);

    return at ? at + strlen(word) + strspn(at + strlen(word), " \t") : "";
}

/* Real, effective, saved, and that of files: one has the rights of one user. */
static bool has_one(const char *ids)
{
    long id[4];

    return sscanf(ids, "%ld %ld %ld %ld", &id[0], &id[1], &id[2], &id[3]) == 4 && id[0] == id[1] &&
           id[0] == id[2] && id[0] == id[3];
}

static bool check_user(pid_t pid, const char *status, struct refusal *why)
{
    const char *uids = field(status, "\nUid:");

    if (atol(uids) != (long)geteuid() && geteuid() != 0)
        return refusal_say(
            why,
            "process %d belongs to another user, and the sampler in it would find no way to this "
            "isoscope: run it as that user, or as root" BY_PERF,
            (int)pid);
    return has_one(uids) ||
           refusal_say(why,
                       "process %d has rights of two users (set-user-ID): nothing is loaded into "
                       "it" BY_PERF,
                       (int)pid);
}

static bool check_status(pid_t pid, struct refusal *why)
{
    char status[STATUS_BYTES];
    const char *features;

    if (!read_status(pid, status))
        return refusal_say(why, "there is no process %d", (int)pid);
    if (strchr("tT", field(status, "\nState:")[0]))
        return refusal_say(
            why,
            "process %d is stopped: nothing can be loaded into it until it goes on (kill -CONT)",
            (int)pid);
    if (!check_user(pid, status, why))
        return false;
    if (atol(field(status, "\nSeccomp:")) > 0)
        return refusal_say(
            why,
            "process %d has a seccomp filter: a system call of the sampler's could end it" BY_PERF,
            (int)pid);
    features = field(status, "\nx86_Thread_features:");
    if (!strncmp(features, "shstk", 5))
        return refusal_say(
            why, "process %d has a shadow stack, which allows no call from outside" BY_PERF,
            (int)pid);
    return true;
}

/* Whether the process finds the same file at this path. */
static bool sees(pid_t pid, const char *path)
{
    char there[PATH_BYTES];
    struct stat ours, theirs;

    snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
    return stat(path, &ours) == 0 && stat(there, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
           ours.st_dev == theirs.st_dev;
}

static size_t read_groups(const char *text, gid_t out[GROUPS_MAX])
{
    size_t count = 0;
    char *end;

    for (; count < GROUPS_MAX && *text != '\n'; text = end) {
        unsigned long group = strtoul(text, &end, 10);

        if (end == text)
            break;
        out[count++] = (gid_t)group;
    }
    return count;
}

/* Whether its user may read the file. This thread alone takes his rights on files for that moment. */
static bool may_read(pid_t pid, const char *path)
{
    gid_t theirs[GROUPS_MAX], ours[NGROUPS_MAX];
    long our_count = getgroups(NGROUPS_MAX, ours), uid, result;
    char status[STATUS_BYTES];

    if (geteuid() != 0 || !read_status(pid, status) || our_count < 0)
        return true;
    uid = atol(field(status, "\nUid:"));
    if (uid == 0)
        return true;
    syscall(SYS_setgroups, read_groups(field(status, "\nGroups:"), theirs), theirs);
    syscall(SYS_setfsgid, atol(field(status, "\nGid:")));
    syscall(SYS_setfsuid, uid);
    result = syscall(SYS_faccessat2, AT_FDCWD, path, R_OK, AT_EACCESS);
    syscall(SYS_setfsuid, geteuid());
    syscall(SYS_setfsgid, getegid());
    syscall(SYS_setgroups, our_count, ours);
    return result == 0 || errno == ENOSYS;
}

static bool check_rights(const struct inject_options *options, struct refusal *why)
{
    const char *closed = !may_read(options->pid, options->library)  ? options->library
                         : !may_read(options->pid, options->socket) ? options->socket
                                                                    : NULL;

    return !closed ||
           refusal_say(why,
                       "the user of process %d may not read %s: install isoscope where all users "
                       "may, or give them rights to its folders" BY_PERF,
                       (int)options->pid, closed);
}

static bool check_files(const struct inject_options *options, struct refusal *why)
{
    const char *missing = !sees(options->pid, options->library)  ? options->library
                          : !sees(options->pid, options->socket) ? options->socket
                                                                 : NULL;

    return !missing ||
           refusal_say(
               why,
               "process %d does not see %s: it has other files (a container, a chroot)" BY_PERF,
               (int)options->pid, missing);
}

/* A feed that a service reads: the process is sampled from inside already. */
static bool is_read(pid_t pid, uint64_t address)
{
    struct feed_header *feed = malloc(sizeof(*feed));
    bool read = feed && memory_read(pid, feed, address, sizeof(*feed)) &&
                feed->head.magic == FEED_MAGIC && feed->head.pid == pid && !feed->status.stopped &&
                clock_kernel_us() - feed->control.reader_us < READ_LATELY_US;

    free(feed);
    return read;
}

static bool check_feeds(pid_t pid, struct refusal *why)
{
    struct maps_reader *maps = malloc(sizeof(*maps));
    struct maps_line line;
    bool read = false;

    if (!maps || maps_open(maps, pid) < 0) {
        free(maps);
        return refusal_say(why, "the mappings of process %d cannot be read", (int)pid);
    }
    while (!read && maps_next(maps, &line))
        read =
            !line.offset && !strncmp(line.path, "/memfd:isoscope", 15) && is_read(pid, line.start);
    maps_close(maps);
    free(maps);
    return !read ||
           refusal_say(why,
                       "process %d has the sampler in it, and another isoscope reads what it takes",
                       (int)pid);
}

/* Go writes this in front of what it says of a build; with cgo, there is a libc beside it. */
static bool is_go(pid_t pid)
{
    static const char mark[] = "\xff Go buildinf:";
    char path[64];
    struct stat status;
    bool found = false;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t bytes = (size_t)status.st_size;
        void *all = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

        if (all != MAP_FAILED) {
            found = memmem(all, bytes, mark, sizeof(mark) - 1);
            munmap(all, bytes);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool find_libc(const struct inject_options *options, struct inject_program *program,
                      struct inject_libc *out, struct refusal *why)
{
    struct inject_object libc, other;
    pid_t pid = options->pid;

    if (!inject_object_find(&libc, pid, "libc.so.6") &&
        !inject_object_find(&libc, pid, "libc-2.")) {
        if (inject_object_find(&other, pid, "libc.so") ||
            inject_object_find(&other, pid, "ld-musl"))
            return refusal_say(
                why, "process %d runs with musl, and the sampler needs glibc" BY_PERF, (int)pid);
        return refusal_say(why,
                           "process %d has no glibc (it is linked statically): nothing can be "
                           "loaded into it" BY_PERF,
                           (int)pid);
    }
    out->dlopen = inject_object_function(&libc, pid, "dlopen");
    out->dlerror = inject_object_function(&libc, pid, "dlerror");
    program->call = inject_object_bytes(&libc, pid, inject_call_bytes, sizeof(inject_call_bytes));
    program->back =
        inject_object_bytes(&libc, pid, inject_return_bytes, sizeof(inject_return_bytes));
    if (out->dlopen && out->dlerror && program->call && program->back)
        return true;
    return refusal_say(why,
                       "the glibc of process %d is older than 2.34, or not as expected: nothing is "
                       "loaded into it" BY_PERF,
                       (int)pid);
}

bool inject_check(const struct inject_options *options, bool loads, struct inject_program *program,
                  struct inject_libc *libc, struct refusal *why)
{
    *program = (struct inject_program){ .pid = options->pid };
    if (!INJECT_WORKS)
        return refusal_say(why,
                           "nothing is loaded into running programs on this processor" BY_PERF);
    if (!check_status(options->pid, why) || !refusal_look_inside(why, options->pid) ||
        !check_files(options, why) || !check_rights(options, why) ||
        !find_libc(options, program, libc, why))
        return false;
    if (is_go(options->pid))
        return refusal_say(
            why,
            "process %d is a Go program, whose stacks are too small for a library's start" BY_PERF,
            (int)options->pid);
    return !loads || check_feeds(options->pid, why);
}
