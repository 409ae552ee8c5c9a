/*
 * suspend_session.c - the scheme of suspending: each thread that has used a period of the processor, and runs, is stopped for as
 * long as its registers and its stack take to copy.
 *
 * Sleepers are never stopped: an interrupt would end some of their system calls. No thread is stopped for more than one part in
 * STOPPED_PARTS of its time.
 */
#include "../scheme.h"

#include "../stacks/thread_stop.h"

#include "../../capture/system/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLLOW_NS INT64_C(50000000) /* between two looks which threads there are */

enum {
    STOPPED_PARTS = 50,
    OWN_PARTS = 5, /* of our time a round takes at most */
    COPY_BYTES = 64 * 1024,
    TEXT_BYTES = 64,
    ROUND = 64,
};

struct suspended {
    pid_t tid;
    bool seen;
    int64_t due_ns; /* not stopped before */
};

struct suspend_session {
    pid_t pid;
    struct target *target;
    struct scheme_family family;
    struct suspended *threads;
    size_t count, room;
    struct stack_copy copy;
    struct scheme_cost cost;
    int64_t followed_ns;
    int pidfd; /* readable when the process has ended; -1: there is none */
};

static void meet(void *context, pid_t tid)
{
    struct suspend_session *session = context;

    for (size_t i = 0; i < session->count; i++)
        if (session->threads[i].tid == tid) {
            session->threads[i].seen = true;
            return;
        }
    if (session->count == session->room) {
        struct suspended *grown =
            reallocarray(session->threads, session->room + ROUND, sizeof(*grown));

        if (!grown)
            return;
        session->threads = grown;
        session->room += ROUND;
    }
    session->threads[session->count++] = (struct suspended){ tid, true, 0 };
}

static void follow(struct suspend_session *session, int64_t now_ns)
{
    size_t kept = 0;

    target_follow(session->target, now_ns);
    if (now_ns - session->followed_ns < FOLLOW_NS)
        return;
    session->followed_ns = now_ns;
    target_code_changed(session->target);
    for (size_t i = 0; i < session->count; i++)
        session->threads[i].seen = false;
    target_follow_threads(session->target, meet, session);
    for (size_t i = 0; i < session->count; i++)
        if (session->threads[i].seen)
            session->threads[kept++] = session->threads[i];
    session->count = kept;
}

static bool is_over(const struct suspend_session *session)
{
    struct pollfd ended = { .fd = session->pidfd, .events = POLLIN };

    return !target_thread_count(session->target) || poll(&ended, 1, 0) > 0;
}

static bool runs_now(const struct suspend_session *session, pid_t tid)
{
    char path[64], text[TEXT_BYTES];
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)session->pid, (int)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof(text));
        close(fd);
    }
    return got > 0 && text[0] == 'r'; /* "running" */
}

static void count_stop(struct suspend_session *session, struct suspended *thread,
                       uint64_t stopped_ns)
{
    session->cost.stops++;
    session->cost.stopped_ns += stopped_ns;
    if (stopped_ns > session->cost.stopped_most_ns)
        session->cost.stopped_most_ns = stopped_ns;
    thread->due_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) + (int64_t)stopped_ns * STOPPED_PARTS;
}

/* A stop under way. */
struct stop {
    struct suspend_session *session;
    struct suspended *thread;
    int64_t at_ns;
    bool still; /* the thread is */
};

static void put_sample(const struct stop *stop, const struct stack_registers *registers)
{
    struct suspend_session *session = stop->session;
    ucontext_t context;
    const struct target_sample sample = { .tid = stop->thread->tid,
                                          .at_ns = stop->at_ns,
                                          .registers = &context,
                                          .stack = session->copy.bytes,
                                          .stack_at = session->copy.at,
                                          .stack_bytes = session->copy.count,
                                          .still = stop->still,
                                          .thread_pointer = registers->thread_pointer };
    enum target_outcome outcome;

    memset(&context, 0, sizeof(context));
    stack_registers_context(registers->value, &context);
    outcome = target_sample(session->target, &sample);
    session->cost.samples++;
    session->cost.whole += outcome == TARGET_WHOLE;
    session->cost.cut += outcome == TARGET_CUT;
    session->cost.lost += outcome == TARGET_LOST;
}

static void look(void *context, const struct stack_registers *registers,
                 const struct stack_copy *copy)
{
    (void)copy;
    put_sample(context, registers);
}

/* An interpreter's frames change while it runs: it is held until they are read. */
static void take(struct suspend_session *session, struct suspended *thread)
{
    struct stop stop = { session, thread, (int64_t)clock_ns(CLOCK_MONOTONIC),
                         target_has_runtimes(session->target) };
    const struct stopped_look still = { look, &stop };
    struct stack_registers registers;
    uint64_t stopped_ns = 0;
    int problem = thread_stop(session->pid, thread->tid, &registers, &session->copy,
                              stop.still ? &still : NULL, &stopped_ns);

    if (!problem && !stop.still)
        put_sample(&stop, &registers);
    count_stop(session, thread, stopped_ns);
}

static int64_t suspend_work(void *context, int64_t now_ns)
{
    struct suspend_session *session = context;
    struct target_wishes wishes = target_wishes(session->target);
    int64_t round_ns, period_ns = wishes.period_us * INT64_C(1000);

    follow(session, now_ns);
    if (is_over(session)) {
        session->family.went(session->family.context, session->target);
        return SCHEME_OVER;
    }
    for (size_t i = 0; wishes.enabled && i < session->count; i++) {
        struct suspended *thread = &session->threads[i];

        if (now_ns >= thread->due_ns && target_is_ready(session->target, now_ns) &&
            target_unsampled_ns(session->target, thread->tid) >= (uint64_t)period_ns &&
            runs_now(session, thread->tid))
            take(session, thread);
    }
    round_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) - now_ns;
    return (period_ns > OWN_PARTS * round_ns ? period_ns - round_ns : (OWN_PARTS - 1) * round_ns) /
           1000;
}

static void suspend_close(void *context)
{
    struct suspend_session *session = context;

    if (session->pidfd >= 0)
        close(session->pidfd);
    free(session->threads);
    free(session->copy.bytes);
    free(session);
}

static void *suspend_open(const struct scheme_start *start, struct refusal *why)
{
    struct suspend_session *session;

    if (!refusal_look_inside(why, start->pid))
        return NULL;
    session = calloc(1, sizeof(*session));
    if (session)
        session->copy.bytes = malloc(COPY_BYTES);
    if (!session || !session->copy.bytes) {
        free(session);
        refusal_say(why, "there is no memory");
        return NULL;
    }
    /* Where that is allowed: a thread is held until this one gets a processor. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
    memset(session->copy.bytes, 1, COPY_BYTES); /* its pages are there before anybody is stopped */
    session->copy.room = COPY_BYTES;
    session->pid = start->pid;
    session->pidfd = (int)syscall(SYS_pidfd_open, start->pid, 0);
    session->target = start->target;
    session->family = start->family;
    return session;
}

static size_t suspend_descriptors(const void *context, int *out, size_t room)
{
    const struct suspend_session *session = context;

    if (!room || session->pidfd < 0)
        return 0;
    out[0] = session->pidfd;
    return 1;
}

static void suspend_cost(const void *context, struct scheme_cost *out)
{
    const struct suspend_session *session = context;

    *out = session->cost;
}

const struct scheme scheme_suspend = {
    .word = "suspend",
    .timer = FEED_TIMER_SUSPEND,
    .open = suspend_open,
    .work = suspend_work,
    .descriptors = suspend_descriptors,
    .cost = suspend_cost,
    .close = suspend_close,
};
