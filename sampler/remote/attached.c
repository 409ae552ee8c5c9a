#include "attached.h"

#include "inject/inject.h"
#include "scheme.h"

#include "../capture/system/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 1024, EXE_BYTES = 512 };

struct attached {
    struct attached_options options;
    pthread_t thread;
    int stop;  /* eventfd */
    int pidfd; /* INJECT; -1 */
    _Atomic bool over;
    const struct scheme *scheme;
    char refused[sizeof(((struct refusal *)NULL)->text)];

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t begun;
    bool is_begun, is_refused;
    struct refusal why;
    struct scheme_cost cost;

    /* The thread's alone. */
    struct target **targets;
    size_t target_count;
    bool by_time; /* descriptors do not tell any more when there is work */
    struct pollfd waits[DESCRIPTORS_MAX + 1];
};

static void read_exe(pid_t pid, char out[EXE_BYTES])
{
    char path[64];
    ssize_t got;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    got = readlink(path, out, EXE_BYTES - 1);
    out[got > 0 ? got : 0] = '\0';
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512], *end;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    end = strrchr(text, ')');
    return end && end[1] && end[2] ? (pid_t)atol(end + 3) : 0;
}

static bool keep(struct attached *attached, struct target *target)
{
    struct target **grown =
        reallocarray(attached->targets, attached->target_count + 1, sizeof(struct target *));

    if (!grown)
        return false;
    attached->targets = grown;
    attached->targets[attached->target_count++] = target;
    return true;
}

static void went(void *context, struct target *target)
{
    struct attached *attached = context;

    for (size_t i = 0; i < attached->target_count; i++)
        if (attached->targets[i] == target)
            attached->targets[i] = attached->targets[--attached->target_count];
    target_close(target);
}

/* NULL, with a refusal: it has ended, or there is no memory. */
static struct target *open_target(struct attached *attached, const struct scheme *scheme, pid_t pid,
                                  int *memfd, struct refusal *why)
{
    const struct target_options options = { pid, attached->options.tables_path, scheme->timer };
    struct target *target;

    if (!target_open(&target, &options, memfd, why))
        return NULL;
    if (keep(attached, target))
        return target;
    target_close(target);
    close(*memfd);
    refusal_say(why, "there is no memory");
    return NULL;
}

static void join(struct attached *attached, pid_t pid, int memfd)
{
    char exe[EXE_BYTES];

    read_exe(pid, exe);
    attached->options.joined(attached->options.context, pid, parent_of(pid), exe, memfd);
}

static struct target *came(void *context, pid_t pid, pid_t parent)
{
    struct attached *attached = context;
    struct target *target = NULL;
    struct refusal why;
    int memfd;

    if (!parent || !attached->options.alone)
        target = open_target(attached, attached->scheme, pid, &memfd, &why);
    if (target)
        join(attached, pid, memfd);
    return target;
}

static struct scheme_family family_of(struct attached *attached)
{
    return (struct scheme_family){ came, went, attached };
}

/* NULL, with a refusal; and nobody has heard of it. */
static void *open_scheme(struct attached *attached, const struct scheme *scheme,
                         struct refusal *why)
{
    pid_t pid = attached->options.pid;
    int memfd;
    struct target *target = open_target(attached, scheme, pid, &memfd, why);
    const struct scheme_start start = { pid, target, family_of(attached),
                                        attached->options.kernel };
    void *session;

    if (!target)
        return NULL;
    attached->scheme = scheme;
    session = scheme->open(&start, why);
    if (session) {
        join(attached, pid, memfd);
        return session;
    }
    went(attached, target);
    close(memfd);
    return NULL;
}

/* Whose functions suspending shows, and perf does not. */
static bool runs_interpreter(pid_t pid)
{
    static const char *const names[] = { "python", "node", "java", "ruby", "php", "perl", "lua" };
    char exe[EXE_BYTES];
    const char *slash, *name;

    read_exe(pid, exe);
    slash = strrchr(exe, '/');
    name = slash ? slash + 1 : exe;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

static void *open_machine(struct attached *attached, struct refusal *why)
{
    const struct scheme_start start = { 0, NULL, family_of(attached), attached->options.kernel };

    attached->scheme = &scheme_machine;
    return scheme_machine.open(&start, why);
}

static void *open_any(struct attached *attached, struct refusal *why)
{
    enum attached_via via = attached->options.via;
    void *session;

    if (!attached->options.pid)
        return open_machine(attached, why);
    if (attached->options.off_cpu) {
        if (!scheme_perf.may_off_cpu(attached->options.pid, why))
            return NULL;
        via = ATTACHED_PERF;
    }
    if (attached->options.kernel)
        via = ATTACHED_PERF;
    if (via == ATTACHED_AUTO && attached->options.interpreted &&
        runs_interpreter(attached->options.pid))
        via = ATTACHED_SUSPEND;
    session = via == ATTACHED_SUSPEND ? NULL : open_scheme(attached, &scheme_perf, why);

    if (session || via == ATTACHED_PERF)
        return session;
    if (via == ATTACHED_AUTO)
        snprintf(attached->refused, sizeof(attached->refused), "%s", why->text);
    session = open_scheme(attached, &scheme_suspend, why);
    if (!session && attached->refused[0]) { /* one message that says what to change */
        struct refusal both;

        refusal_say(&both, "%s; and %s", attached->refused, why->text);
        *why = both;
    }
    return session;
}

static void begin(struct attached *attached, bool refused)
{
    pthread_mutex_lock(&attached->lock);
    attached->is_begun = true;
    attached->is_refused = refused;
    pthread_cond_signal(&attached->begun);
    pthread_mutex_unlock(&attached->lock);
}

/* Descriptors of threads that have ended are ready for ever: then only time wakes us. */
static bool any_hung(const struct pollfd *waits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (waits[i].revents & (POLLHUP | POLLERR))
            return true;
    return false;
}

/* False: it is to stop. */
static bool rest(struct attached *attached, void *session, int64_t rest_us)
{
    const struct timespec time = { rest_us / 1000000, rest_us % 1000000 * 1000 };
    int descriptors[DESCRIPTORS_MAX];
    size_t count = attached->by_time
                       ? 0
                       : attached->scheme->descriptors(session, descriptors, DESCRIPTORS_MAX);

    attached->waits[0] = (struct pollfd){ .fd = attached->stop, .events = POLLIN };
    for (size_t i = 0; i < count; i++)
        attached->waits[i + 1] = (struct pollfd){ .fd = descriptors[i], .events = POLLIN };
    ppoll(attached->waits, count + 1, &time, NULL);
    attached->by_time = attached->by_time || any_hung(attached->waits + 1, count);
    return !attached->waits[0].revents;
}

static void sample(struct attached *attached, void *session)
{
    int64_t rest_us;

    do {
        rest_us = attached->scheme->work(session, (int64_t)clock_ns(CLOCK_MONOTONIC));
        pthread_mutex_lock(&attached->lock);
        attached->scheme->cost(session, &attached->cost);
        pthread_mutex_unlock(&attached->lock);
    } while (rest_us != SCHEME_OVER && rest(attached, session, rest_us));
    atomic_store(&attached->over, rest_us == SCHEME_OVER);
}

static void sample_until_left(struct attached *attached, void *session)
{
    sample(attached, session);
    attached->scheme->close(session);
    while (attached->target_count)
        went(attached, attached->targets[0]);
}

/* The program samples itself: here is only waited for its end. */
static void wait_for_end(struct attached *attached)
{
    struct pollfd waits[] = { { .fd = attached->stop, .events = POLLIN },
                              { .fd = attached->pidfd, .events = POLLIN } };

    while (!waits[0].revents && !waits[1].revents)
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            return;
    atomic_store(&attached->over, waits[1].revents != 0);
}

static bool is_injected(const struct attached *attached)
{
    return attached->options.via == ATTACHED_INJECT;
}

static void run_injected(struct attached *attached)
{
    const struct attached_options *options = &attached->options;
    const struct inject_options injection = { options->pid,       options->library, options->socket,
                                              options->period_us, options->alloc,   options->lock };
    struct refusal why;
    bool done;

    attached->pidfd = (int)syscall(SYS_pidfd_open, options->pid, 0);
    if (attached->pidfd < 0)
        refusal_say(&attached->why, "process %d cannot be waited for: %s", (int)options->pid,
                    strerror(errno));
    done = attached->pidfd >= 0 && inject(&injection, &attached->why);
    begin(attached, !done);
    if (!done)
        return;
    wait_for_end(attached);
    if (options->eject && !atomic_load(&attached->over) && !inject_eject(&injection, &why) &&
        options->stayed)
        options->stayed(options->context, why.text);
}

static void run_scheme(struct attached *attached)
{
    void *session = open_any(attached, &attached->why);

    if (session)
        attached->scheme->cost(session, &attached->cost);
    begin(attached, !session);
    if (session)
        sample_until_left(attached, session);
}

static void *run(void *context)
{
    struct attached *attached = context;

    pthread_setname_np(pthread_self(), "iso-attached");
    if (is_injected(attached))
        run_injected(attached);
    else
        run_scheme(attached);
    if (atomic_load(&attached->over) && attached->options.ended)
        attached->options.ended(attached->options.context);
    return NULL;
}

static void destroy(struct attached *attached)
{
    if (attached->stop >= 0)
        close(attached->stop);
    if (attached->pidfd >= 0)
        close(attached->pidfd);
    pthread_cond_destroy(&attached->begun);
    pthread_mutex_destroy(&attached->lock);
    free(attached->targets);
    free(attached);
}

static int start(struct attached *attached)
{
    sigset_t all, before;
    int problem;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    problem = pthread_create(&attached->thread, NULL, run, attached);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

bool attached_new(struct attached **out, const struct attached_options *options,
                  struct refusal *why)
{
    struct attached *attached;

    if (options->pid && !refusal_look(why, options->pid))
        return false;
    attached = calloc(1, sizeof(*attached));
    if (!attached)
        return refusal_say(why, "there is no memory");
    attached->options = *options;
    attached->pidfd = -1;
    pthread_mutex_init(&attached->lock, NULL);
    pthread_cond_init(&attached->begun, NULL);
    attached->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (attached->stop < 0 || start(attached) != 0) {
        destroy(attached);
        return refusal_say(why, "there is no room for another thread or descriptor");
    }
    pthread_mutex_lock(&attached->lock);
    while (!attached->is_begun)
        pthread_cond_wait(&attached->begun, &attached->lock);
    pthread_mutex_unlock(&attached->lock);
    if (attached->is_refused) {
        *why = attached->why;
        pthread_join(attached->thread, NULL);
        destroy(attached);
        return false;
    }
    *out = attached;
    return true;
}

void attached_free(struct attached *attached)
{
    uint64_t one = 1;

    if (!attached)
        return;
    if (write(attached->stop, &one, sizeof(one)) < 0)
        return;
    pthread_join(attached->thread, NULL);
    destroy(attached);
}

const char *attached_word(const struct attached *attached)
{
    return is_injected(attached) ? "inject" : attached->scheme->word;
}

bool attached_holds(const struct attached *attached)
{
    return is_injected(attached) || attached->scheme == &scheme_suspend;
}

const char *attached_refused(const struct attached *attached)
{
    return attached->refused;
}

bool attached_is_over(const struct attached *attached)
{
    return atomic_load(&attached->over);
}

void attached_cost(struct attached *attached, struct scheme_cost *out)
{
    pthread_mutex_lock(&attached->lock);
    *out = attached->cost;
    pthread_mutex_unlock(&attached->lock);
}
