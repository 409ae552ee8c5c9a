/*
 * perf_session.c - the scheme of perf: what the kernel wrote into the rings becomes samples, threads and programs.
 */
#include "perf_events.h"
#include "perf_off_cpu.h"
#include "perf_sample.h"

#include "../scheme.h"

#include "../../profile/base/map64.h"
#include "../../profile/symbols/kernel/kernel_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define COUNT_NS                                                                                   \
    INT64_C(                                                                                       \
        1000000000) /* between two looks which threads there are: a record of their end may be lost */

enum {
    WORK_US = 20 * 1000,
    READY_US = 1000,
    RECORDS_FIRST = 1024,
    JUDGED_SAMPLES = 200, /* before the copy of the stack is made larger */
    CUT_PARTS = 100,      /* one of so many stacks may be cut */
    MEMBERS_MAX = 4096,
    MACHINE_STACK_MOST = 32768, /* one program's deep stacks would cost all others */
    MACHINE_MEMBERS_MAX = 1024, /* of all processes, those that have run, at a time */
};

struct member {
    pid_t pid;
    struct target *target;
};

struct place {
    uint64_t at_ns;
    const struct perf_event_header *record;
};

struct perf_session {
    struct perf_events events;
    struct perf_off_cpu *off_cpu; /* NULL: waits are not wanted */
    struct map64 clocked;         /* tids, while events are opened */
    struct scheme_family family;
    bool kernel;            /* its frames are wanted */
    struct member *members; /* the first one is who was attached to */
    size_t member_count;
    struct map64 places_of; /* pid -> place in members + 1; 0: it is none */
    bool is_machine;        /* all processes: members are those that have run */
    struct map64 born;      /* is_machine: pids that began since; 0: they have ended */
    bool enabled;
    struct scheme_cost cost;
    uint64_t judged, judged_cut; /* since the copy has this size */
    struct place *places;
    size_t place_count, place_room;
    int64_t counted_ns;
    int problem; /* of the last thread that could not be added */
};

/* Bodies of records, as these events are asked for. sample_id_all is off. */
struct task_body {
    uint32_t pid, parent, tid, parent_tid;
    uint64_t at_ns;
};
struct comm_body {
    uint32_t pid, tid;
    char name[];
};
struct lost_body {
    uint64_t id, lost;
};

static struct member *find(struct perf_session *session, pid_t pid)
{
    uint32_t place = map64_find(&session->places_of, (uint64_t)pid);

    return place ? &session->members[place - 1] : NULL;
}

static bool put_place(struct map64 *map, pid_t pid, uint32_t place)
{
    bool is_new;
    uint32_t *value = map64_put(map, (uint64_t)pid, &is_new);

    if (value)
        *value = place;
    return value != NULL;
}

static bool is_full(const struct perf_session *session)
{
    return session->member_count ==
           (session->is_machine ? (size_t)MACHINE_MEMBERS_MAX : (size_t)MEMBERS_MAX);
}

static struct member *enter(struct perf_session *session, pid_t pid, struct target *target)
{
    struct member *grown;

    if (!target || is_full(session))
        return NULL;
    grown = reallocarray(session->members, session->member_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    session->members = grown;
    if (!put_place(&session->places_of, pid, (uint32_t)session->member_count + 1))
        return NULL;
    session->members[session->member_count] = (struct member){ pid, target };
    return &session->members[session->member_count++];
}

static void leave(struct perf_session *session, struct member *member)
{
    struct target *target = member->target;
    uint32_t place = (uint32_t)(member - session->members) + 1;

    put_place(&session->places_of, member->pid, 0);
    *member = session->members[--session->member_count];
    if (place <= session->member_count)
        put_place(&session->places_of, member->pid, place);
    session->family.went(session->family.context, target);
}

/* A record of this thread's beginning is there: it has inherited its clocks. */
static bool has_inherited(struct perf_session *session, pid_t tid)
{
    const struct perf_event_header *record;

    for (uint32_t i = 0; i < session->events.processors; i++) {
        struct perf_ring *ring = &session->events.rings[i];

        if (!ring->head_page)
            continue;
        perf_ring_begin(ring);
        while ((record = perf_ring_next(ring)))
            if (record->type == PERF_RECORD_FORK &&
                ((const struct task_body *)(record + 1))->tid == (uint32_t)tid)
                return true;
    }
    return false;
}

static void add_thread(void *context, pid_t tid)
{
    struct perf_session *session = context;
    uint32_t *place;
    bool is_new;
    int problem;

    place = map64_put(&session->clocked, (uint64_t)tid, &is_new);
    if (!place || !is_new || has_inherited(session, tid))
        return;
    /* Those that are born between the two have a clock only if they have the other, too. */
    problem = session->off_cpu ? perf_off_cpu_add(session->off_cpu, tid) : 0;
    if (!problem)
        problem = perf_events_add(&session->events, tid);
    if (problem && problem != ESRCH)
        session->problem = problem;
}

/* All members' threads, with the period and the copy that are wanted now. Those that come meanwhile inherit their clocks, but from
 * threads that have none yet: so there is a second look. */
static int open_events(struct perf_session *session, const struct target_wishes *wishes,
                       uint32_t stack_bytes)
{
    const struct perf_wish clock = { .what = session->is_machine ? PERF_MACHINE : PERF_CLOCK,
                                     .period_us = wishes->period_us,
                                     .kernel = session->kernel,
                                     .stack_bytes = stack_bytes };
    int problem;

    perf_events_close(&session->events);
    perf_off_cpu_free(session->off_cpu);
    session->off_cpu = NULL;
    session->problem = 0;
    session->judged = session->judged_cut = 0;
    session->cost.stack_bytes = stack_bytes;
    problem = perf_events_open(&session->events, &clock);
    if (session->is_machine)
        return problem ? problem : perf_events_add_all(&session->events);
    if (!problem && wishes->off_cpu)
        problem = perf_off_cpu_new(&session->off_cpu, stack_bytes, session->kernel);
    for (size_t i = 0; !problem && i < 2 * session->member_count; i++)
        target_follow_threads(session->members[i % session->member_count].target, add_thread,
                              session);
    map64_free(&session->clocked);
    session->clocked = (struct map64){ 0 };
    session->cost.no_kernel = session->events.no_kernel;
    return problem ? problem : session->events.fd_count ? 0 : session->problem;
}

static void read_paranoid(char out[16])
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

    snprintf(out, 16, "?");
    if (!file)
        return;
    if (!fgets(out, 16, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

/* Whether perf events are refused at all, or only those of the kernel's code. */
static bool refuse_kernel(struct refusal *why, const char *paranoid)
{
    if (geteuid() == 0)
        return refusal_say(why,
                           "the kernel refused to show its own code (--kernel), though isoscope "
                           "is root: this container lacks CAP_PERFMON, or a seccomp filter "
                           "forbids perf events; run it outside of the container");
    return refusal_say(why,
                       "the kernel does not show its own code (--kernel) to ordinary users "
                       "(kernel.perf_event_paranoid is %s): run isoscope as root, or "
                       "`sysctl kernel.perf_event_paranoid=1`",
                       paranoid);
}

static bool refuse(struct refusal *why, const struct scheme_start *start, int problem)
{
    pid_t pid = start->pid;
    char paranoid[16];

    read_paranoid(paranoid);
    if (problem == EMFILE)
        return refusal_say(
            why, "process %d has more threads than there are descriptors for: raise `ulimit -n`",
            (int)pid);
    if (problem == ENOBUFS)
        return refusal_say(why,
                           "perf's buffers for process %d need more locked memory than this user "
                           "may have: raise `ulimit -l`",
                           (int)pid);
    if (problem == EPERM) /* the kernel itself says EACCES */
        return refusal_say(
            why, "the kernel refused perf events for process %d (a seccomp filter forbids them)",
            (int)pid);
    if (problem == EACCES && start->kernel)
        return refuse_kernel(why, paranoid);
    if (problem == EACCES)
        return refusal_say(
            why,
            "the kernel refused perf events for process %d (kernel.perf_event_paranoid is "
            "%s, and ordinary users need 2 or less)",
            (int)pid, paranoid);
    return refusal_say(why, "perf events for process %d: %s", (int)pid, strerror(problem));
}

/* Descriptors are for each thread and processor: as many as this process may have. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void perf_close(void *context)
{
    struct perf_session *session = context;

    perf_events_close(&session->events);
    perf_off_cpu_free(session->off_cpu);
    map64_free(&session->places_of);
    map64_free(&session->born);
    free(session->members);
    free(session->places);
    free(session);
}

/* Its names are read where samples are named: here only whether there are any. */
static bool has_unnamed_kernel(void)
{
    struct kernel_places places = { 0 };
    bool hidden;

    kernel_places_read(&places);
    hidden = kernel_places_hidden(&places);
    kernel_places_free(&places);
    return hidden;
}

/* Nobody is a member yet. NULL: there is no memory. */
static struct perf_session *new_session(const struct scheme_start *start)
{
    struct perf_session *session = calloc(1, sizeof(*session));

    if (!session)
        return NULL;
    session->family = start->family;
    session->kernel = start->kernel;
    session->cost.unnamed_kernel = start->kernel && has_unnamed_kernel();
    return session;
}

static void *perf_open(const struct scheme_start *start, struct refusal *why)
{
    struct perf_session *session = new_session(start);
    struct target_wishes wishes = target_wishes(start->target);
    int problem;

    if (!session || !enter(session, start->pid, start->target)) {
        if (session)
            map64_free(&session->places_of);
        free(session);
        refusal_say(why, "there is no memory");
        return NULL;
    }
    session->enabled = wishes.enabled;
    raise_descriptors();
    problem = open_events(session, &wishes, PERF_STACK_FIRST);
    if (!problem)
        return session;
    refuse(why, start, problem);
    perf_close(session);
    return NULL;
}

static void *perf_open_machine(const struct scheme_start *start, struct refusal *why)
{
    struct perf_session *session = new_session(start);
    const struct target_wishes wishes = { .enabled = true, .period_us = FEED_PERIOD_DEFAULT_US };
    int problem;

    if (!session) {
        refusal_say(why, "there is no memory");
        return NULL;
    }
    session->enabled = session->is_machine = true;
    raise_descriptors();
    problem = open_events(session, &wishes, PERF_STACK_FIRST);
    if (!problem)
        return session;
    refusal_say(why,
                problem == EACCES || problem == EPERM
                    ? "the kernel refused to sample all processes: that asks for root, outside of "
                      "containers"
                    : "perf events of all processes: %s",
                strerror(problem));
    perf_close(session);
    return NULL;
}

static bool note(struct perf_session *session, const struct perf_event_header *record,
                 uint64_t at_ns)
{
    if (session->place_count == session->place_room) {
        size_t room = session->place_room ? 2 * session->place_room : RECORDS_FIRST;
        struct place *grown = reallocarray(session->places, room, sizeof(*grown));

        if (!grown)
            return false;
        session->places = grown;
        session->place_room = room;
    }
    session->places[session->place_count++] = (struct place){ at_ns, record };
    return true;
}

/* Records that have no time of their own stand where their ring has them. */
static uint64_t time_of(const struct perf_event_header *record, uint64_t before_ns)
{
    if (record->type == PERF_RECORD_SAMPLE)
        return ((const struct perf_sample_head *)(record + 1))->at_ns;
    if (record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT)
        return ((const struct task_body *)(record + 1))->at_ns;
    return before_ns;
}

static void gather(struct perf_session *session)
{
    session->place_count = 0;
    for (uint32_t i = 0; i < session->events.processors; i++) {
        struct perf_ring *ring = &session->events.rings[i];
        const struct perf_event_header *record;
        uint64_t at_ns = 0;

        if (!ring->head_page)
            continue;
        perf_ring_begin(ring);
        while ((record = perf_ring_next(ring))) {
            at_ns = time_of(record, at_ns);
            if (!note(session, record, at_ns))
                session->cost.lost++;
        }
    }
}

static int by_time(const void *one, const void *other)
{
    const struct place *a = one, *b = other;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->record > b->record) -
           (a->record < b->record); /* one after the other in their ring */
}

/* Threads that begin in this heap, and samples that share their threads' time. */
static void expect(struct perf_session *session)
{
    for (size_t i = 0; i < session->member_count; i++)
        target_begin_heap(session->members[i].target);
    for (size_t i = 0; i < session->place_count; i++) {
        const struct perf_event_header *record = session->places[i].record;
        const uint32_t *ids =
            (const void *)(record + 1); /* a process, and what the record's body has */
        struct perf_sample sample;
        struct member *member = find(session, (pid_t)ids[0]);

        if (member && record->type == PERF_RECORD_FORK)
            target_thread(member->target, (pid_t)((const struct task_body *)ids)->tid);
        else if (member && record->type == PERF_RECORD_SAMPLE &&
                 perf_sample_read(record, &session->events.wish, &sample) && sample.registers)
            target_expect(member->target, (pid_t)ids[1]);
    }
}

/* Of all processes, those are met that run. What one has used that began since is all told. */
static struct member *meet(struct perf_session *session, const struct perf_sample *sample)
{
    pid_t pid = (pid_t)sample->head->pid;
    struct member *member = find(session, pid);

    if (member || !session->is_machine || !pid || pid == getpid())
        return member;
    if (!sample->registers) {
        session->cost.kernel_threads++;
        return NULL;
    }
    if (!is_full(session))
        member = enter(session, pid, session->family.came(session->family.context, pid, 0));
    if (!member)
        session->cost.lost++;
    else if (map64_find(&session->born, (uint64_t)pid))
        target_thread(member->target, (pid_t)sample->head->tid);
    return member;
}

static void take_sample(struct perf_session *session, const struct perf_event_header *record)
{
    enum target_outcome outcome;
    struct perf_sample sample;
    struct target_sample from;
    struct member *member;
    ucontext_t registers;

    if (!perf_sample_read(record, &session->events.wish, &sample))
        return;
    member = meet(session, &sample);
    if (!member || !sample.registers)
        return;
    from = perf_sample_target(&sample, &registers);
    outcome = target_sample(member->target, &from);
    session->cost.samples++;
    session->cost.whole += outcome == TARGET_WHOLE;
    session->cost.cut += outcome == TARGET_CUT;
    session->cost.lost += outcome == TARGET_LOST;
    session->judged++;
    session->judged_cut += outcome == TARGET_CUT;
}

static void take_fork(struct perf_session *session, const struct perf_event_header *record)
{
    const struct task_body *body = (const void *)(record + 1);
    struct member *member = find(session, (pid_t)body->pid);

    if (session->is_machine && body->pid == body->tid)
        put_place(&session->born, (pid_t)body->pid, 1);
    else if (!member && body->pid != body->parent && find(session, (pid_t)body->parent))
        member = enter(
            session, (pid_t)body->pid,
            session->family.came(session->family.context, (pid_t)body->pid, (pid_t)body->parent));
    if (member)
        target_thread(member->target, (pid_t)body->tid);
}

static void take_exit(struct perf_session *session, const struct perf_event_header *record)
{
    const struct task_body *body = (const void *)(record + 1);
    struct member *member = find(session, (pid_t)body->pid);

    if (session->is_machine && body->pid == body->tid &&
        map64_find(&session->born, (uint64_t)body->pid))
        put_place(&session->born, (pid_t)body->pid, 0);
    if (!member)
        return;
    target_thread_end(member->target, (pid_t)body->tid);
    if (!target_thread_count(member->target))
        leave(session, member);
}

/* It runs another program from here on. */
static void take_exec(struct perf_session *session, struct member *member)
{
    pid_t pid = member->pid;

    leave(session, member);
    enter(session, pid, session->family.came(session->family.context, pid, 0));
}

static void take_comm(struct perf_session *session, const struct perf_event_header *record)
{
    const struct comm_body *body = (const void *)(record + 1);
    struct member *member = find(session, (pid_t)body->pid);
    char name[16] = "";

    if (!member)
        return;
    if (record->misc & PERF_RECORD_MISC_COMM_EXEC) {
        take_exec(session, member);
        return;
    }
    snprintf(name, sizeof(name), "%.15s", body->name);
    target_thread_name(member->target, (pid_t)body->tid, name);
}

static void take_lost(struct perf_session *session, const struct perf_event_header *record)
{
    const struct lost_body *body = (const void *)(record + 1);

    session->cost.lost += body->lost;
    if (session->member_count)
        target_count_lost(session->members[0].target, FEED_LOSS_RING_FULL, body->lost);
}

static void take(struct perf_session *session, const struct perf_event_header *record)
{
    struct member *member;

    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        if (session->enabled)
            take_sample(session, record);
        break;
    case PERF_RECORD_FORK:
        take_fork(session, record);
        break;
    case PERF_RECORD_EXIT:
        take_exit(session, record);
        break;
    case PERF_RECORD_COMM:
        take_comm(session, record);
        break;
    case PERF_RECORD_LOST:
        take_lost(session, record);
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        member = find(session, *(const pid_t *)(record + 1));
        if (member)
            target_code_changed(member->target);
        break;
    default:
        break;
    }
}

/* Code is looked at before the samples that lie in it: mappings are told in other rings, maybe. */
static void follow(struct perf_session *session, int64_t now_ns)
{
    for (size_t i = 0; i < session->place_count; i++) {
        uint32_t type = session->places[i].record->type;

        if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
            take(session, session->places[i].record);
    }
    for (size_t i = 0; i < session->member_count; i++)
        target_follow(session->members[i].target, now_ns);
}

static bool all_ready(const struct perf_session *session, int64_t now_ns)
{
    for (size_t i = 0; i < session->member_count; i++)
        if (!target_is_ready(session->members[i].target, now_ns))
            return false;
    return true;
}

static struct target *target_of(void *context, pid_t pid)
{
    struct member *member = find(context, pid);

    return member ? member->target : NULL;
}

static void woken(void *context, pid_t tid, pid_t waker)
{
    struct perf_session *session = context;

    for (size_t i = 0; i < session->member_count; i++)
        target_woken(session->members[i].target, tid, waker);
}

/* After the clocks' rings: these tell of threads and code that are met here. */
static void drain_off_cpu(struct perf_session *session, int64_t now_ns)
{
    const struct perf_off_cpu_owner owner = { target_of, woken, session };
    struct perf_off_cpu_cost cost = { 0 };

    perf_off_cpu_drain(session->off_cpu, &owner, now_ns, &cost);
    session->judged += cost.copies;
    session->judged_cut += cost.cut;
    if (cost.lost && session->member_count)
        target_waits_lost(session->members[0].target, cost.lost);
}

static void drain(struct perf_session *session, int64_t now_ns)
{
    gather(session);
    follow(session, now_ns);
    qsort(session->places, session->place_count, sizeof(*session->places), by_time);
    expect(session);
    for (size_t i = 0; i < session->place_count; i++)
        take(session, session->places[i].record);
    for (uint32_t i = 0; i < session->events.processors; i++)
        if (session->events.rings[i].head_page)
            perf_ring_release(&session->events.rings[i]);
    if (session->off_cpu && session->enabled)
        drain_off_cpu(session, now_ns);
}

/* Stacks that are cut too often ask for a longer copy; and the service may want another period. */
static void follow_wishes(struct perf_session *session)
{
    struct target_wishes wishes;
    const struct perf_wish *is = &session->events.wish;
    uint32_t stack_bytes = is->stack_bytes;

    if (!session->member_count)
        return;
    wishes = target_wishes(session->members[0].target);
    session->enabled = wishes.enabled;
    if (session->judged >= JUDGED_SAMPLES) {
        uint32_t most = session->is_machine ? MACHINE_STACK_MOST : (uint32_t)PERF_STACK_MOST;

        if (session->judged_cut * CUT_PARTS > session->judged && stack_bytes < most)
            stack_bytes = 2 * stack_bytes < most ? 2 * stack_bytes : most;
        session->judged = session->judged_cut = 0;
    }
    if (stack_bytes != is->stack_bytes || wishes.period_us != is->period_us ||
        wishes.off_cpu != (session->off_cpu != NULL))
        open_events(session, &wishes, stack_bytes);
}

static void count_members(struct perf_session *session, int64_t now_ns)
{
    if (now_ns - session->counted_ns < COUNT_NS)
        return;
    session->counted_ns = now_ns;
    for (size_t i = session->member_count; i > 0; i--) {
        target_follow_threads(session->members[i - 1].target, NULL, NULL);
        if (session->off_cpu)
            target_tell_waits(session->members[i - 1].target, now_ns);
        if (!target_thread_count(session->members[i - 1].target))
            leave(session, &session->members[i - 1]);
    }
}

/* Until the first tables are there, the kernel keeps the samples. */
static int64_t perf_work(void *context, int64_t now_ns)
{
    struct perf_session *session = context;

    /* Of all processes, some begin at any moment: nobody waits for one. */
    if (!session->is_machine && !all_ready(session, now_ns)) {
        session->place_count = 0;
        follow(session, now_ns);
        return READY_US;
    }
    drain(session, now_ns);
    count_members(session, now_ns);
    follow_wishes(session);
    return session->member_count || session->is_machine ? WORK_US : SCHEME_OVER;
}

static size_t perf_descriptors(const void *context, int *out, size_t room)
{
    const struct perf_session *session = context;
    size_t count = 0;

    for (uint32_t i = 0; i < session->events.processors && count < room; i++)
        if (session->events.ring_fds[i] >= 0)
            out[count++] = session->events.ring_fds[i];
    if (session->off_cpu)
        count += perf_off_cpu_descriptors(session->off_cpu, out + count, room - count);
    return count;
}

static void perf_cost(const void *context, struct scheme_cost *out)
{
    const struct perf_session *session = context;

    *out = session->cost;
}

const struct scheme scheme_perf = {
    .word = "perf",
    .timer = FEED_TIMER_PERF,
    .may_off_cpu = perf_off_cpu_may,
    .open = perf_open,
    .work = perf_work,
    .descriptors = perf_descriptors,
    .cost = perf_cost,
    .close = perf_close,
};

const struct scheme scheme_machine = {
    .word = "perf",
    .timer = FEED_TIMER_PERF,
    .open = perf_open_machine,
    .work = perf_work,
    .descriptors = perf_descriptors,
    .cost = perf_cost,
    .close = perf_close,
};
