#include "wall.h"

#include "blocked.h"
#include "switches.h"
#include "thread_choice.h"

#include "../../feed/sys.h"
#include "../system/clock.h"
#include "../system/memory.h"
#include "../system/pages.h"
#include "../system/task_file.h"
#include "../threads/cpu_timer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    TRIES = 3,           /* to read a sleeper's stack before it wakes */
    HOLDS_ROUNDS = 1000, /* so long a stack is believed to have reached the service */
    /* One that ended in unknown code: it may soon be known. If not, twice as long, and so on. */
    HOLDS_UNKNOWN_MIN_ROUNDS = 4,
    HOLDS_UNKNOWN_MAX_ROUNDS = 64,
    PAYS_ROUNDS = 200, /* of sleep, before it pays without a tick */
    SECOND_LOOK_US = 50,
    KEPT_FDS_MAX = 512, /* the program's limit holds for our table too */
    TAG_BYTES = FEED_NAME_MAX,
};

/* What is known of a thread, by slot. */
struct seen {
    int32_t tid;         /* 0: nothing */
    uint16_t generation; /* of the feed's slot */
    bool asleep;         /* its last sample in ring 0 holds while cpu_ns does */
    bool ran;            /* it was on a processor in the round before */
    uint16_t slept;      /* rounds, while it owes */
    uint8_t state;
    uint16_t holds;         /* rounds that the sample still stands for */
    uint16_t unknown_holds; /* and of the last one that ended in unknown code */
    int fd;                 /* of its syscall file; -1: opened anew each time */
    struct switches switches;
    uint64_t cpu_ns;
    struct root_side root_side;
};

static struct by_slot seen;

/* Made for the first round: a program in CPU mode needs no addresses for it. */
struct scratch {
    struct unwind_sleeper sleeper; /* not for the sampler's small stack */
    /* Threads that slept in the round before and now do not; they are looked at a second time. */
    struct woken {
        uint16_t slot;
        bool on_cpu;
    } woken[FEED_THREADS_MAX];
    /* Threads of this round that still sleep where they slept. */
    uint32_t again_list[FEED_SLEEPERS_MAX], again_count;
};
static struct scratch *scratch;

/* NULL: no round has met the slot. */
static struct seen *seen_of(uint32_t slot)
{
    return by_slot_at(&seen, slot, sizeof(struct seen));
}

struct round {
    struct threads *threads;
    const struct code_map *map;
    const struct named_code *named;
    bool unknown_code;
    uint32_t woken_count;
};

static void count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static void count_loss(const struct round *round, enum feed_loss loss)
{
    count(&round->threads->segment->header->status.lost[loss], 1);
}

/* False: the thread is gone. */
static bool read_cpu(int32_t tid, uint64_t *out)
{
    uint64_t cpu_ns = cpu_timer_thread_ns(tid);

    if (cpu_ns)
        *out = cpu_ns;
    return cpu_ns != 0;
}

static int read_blocked(struct seen *thread, struct blocked *out)
{
    long fd = thread->fd >= 0 ? thread->fd : task_file_open(thread->tid, "/syscall");
    int error = fd < 0 ? (int)fd : blocked_read((int)fd, out);

    if (fd >= 0 && fd < KEPT_FDS_MAX)
        thread->fd = (int)fd;
    else if (fd >= 0)
        sys_call1(SYS_close, fd);
    return error;
}

/* Outside system calls it waits for a page, unless somebody has stopped it. */
static enum feed_state state_outside(int32_t tid)
{
    char text[64];
    long bytes = task_file_read(tid, "/stat", text, sizeof text - 1);

    /* "TID (NAME) LETTER"; a name has 15 bytes, and any of them may be ')'. */
    while (bytes > 2 && text[bytes - 1] != ')')
        bytes--;
    return bytes > 2 && text[bytes + 1] == 'D' ? FEED_STATE_IO : FEED_STATE_SLEEP;
}

static void forget(struct seen *thread)
{
    if (thread->tid && thread->fd >= 0)
        sys_call1(SYS_close, thread->fd);
    if (thread->tid)
        switches_close(&thread->switches);
    thread->tid = 0;
}

/* The slot may be another thread's since the last round. True: it is new. */
static bool meet(const struct round *round, uint32_t slot)
{
    struct seen *thread = seen_of(slot);
    int32_t tid = threads_watch(round->threads, slot)->tid;
    uint16_t generation = (uint16_t)atomic_load_explicit(
        &round->threads->segment->threads[slot].generation, memory_order_relaxed);

    if (thread->tid == tid && thread->generation == generation)
        return false;
    forget(thread);
    thread->tid = tid;
    thread->generation = generation;
    thread->asleep = thread->ran = false;
    thread->slept = 0;
    thread->unknown_holds = 0;
    thread->fd = -1;
    switches_open(&thread->switches, tid);
    memset(&thread->root_side, 0, sizeof thread->root_side);
    return true;
}

/* The thread runs or would like to: its next tick will say where, for this round too. */
static void owe(const struct round *round, uint32_t slot, bool running)
{
    struct watch *watch = threads_watch(round->threads, slot);
    uint32_t owed = atomic_load_explicit(&watch->owed, memory_order_relaxed);

    seen_of(slot)->slept = 0;
    seen_of(slot)->ran = true;
    if (owed % WALL_OWED_RUNNABLE + owed / WALL_OWED_RUNNABLE >= WALL_OWED_MAX) {
        count_loss(round, FEED_LOSS_OVERRUN);
        return;
    }
    atomic_fetch_add_explicit(&watch->owed, running ? WALL_OWED_RUNNING : WALL_OWED_RUNNABLE,
                              memory_order_relaxed);
}

/* Puts what say_again gathered into the ring. */
static void flush_again(struct round *round)
{
    struct feed_status *status = &round->threads->segment->header->status;
    uint32_t bytes =
        (sizeof(struct feed_again) + scratch->again_count * sizeof scratch->again_list[0] + 7) &
        ~7u;
    struct feed_again *again;
    struct ring_writer ring;

    if (!scratch->again_count)
        return;
    segment_ring(round->threads->segment, 0, &ring);
    again = ring_reserve(&ring, bytes);
    if (again) {
        again->head = (struct feed_record){ bytes, FEED_RECORD_AGAIN, 0 };
        again->timestamp_us = clock_now_us();
        again->count = scratch->again_count;
        memcpy(again->sleepers, scratch->again_list,
               scratch->again_count * sizeof scratch->again_list[0]);
        ring_commit(&ring);
    }
    count(again ? &status->delivered : &status->lost[FEED_LOSS_RING_FULL], scratch->again_count);
    scratch->again_count = 0;
}

static void say_again(struct round *round, uint32_t slot, enum feed_state state)
{
    count(&round->threads->segment->header->status.ticks, 1);
    scratch->again_list[scratch->again_count++] =
        FEED_SLEEPER(slot, seen_of(slot)->generation, state);
    if (scratch->again_count == FEED_SLEEPERS_MAX)
        flush_again(round);
}

static void fill(struct round *round, uint32_t slot, uint32_t frames_max,
                 struct feed_sample *sample, struct unwind_result *result)
{
    struct seen *thread = seen_of(slot);
    const struct unwind_request request = {
        .map = round->map,
        .stack = &threads_watch(round->threads, slot)->stack,
        .root_side = &thread->root_side,
        .frames_max = frames_max,
        .named = round->named,
    };

    unwind_asleep(&request, &scratch->sleeper, sample->frames, result);
    memset(sample, 0, sizeof *sample);
    sample->timestamp_us = clock_now_us();
    sample->depth = (uint16_t)result->depth;
    sample->end = (uint8_t)result->end;
    sample->state = thread->state;
    sample->generation = thread->generation;
    sample->head = (struct feed_record){
        .size_bytes = (uint32_t)(sizeof *sample + sample->depth * sizeof(uint64_t)),
        .type = FEED_RECORD_SAMPLE_OF,
        .slot = (uint16_t)slot,
    };
}

/* No tick has met the thread since: it sleeps where the rounds led to. */
static void pay(struct round *round, uint32_t slot)
{
    _Atomic uint32_t *owes = &threads_watch(round->threads, slot)->owed;
    uint32_t owed = atomic_load_explicit(owes, memory_order_relaxed);

    if (!owed || ++seen_of(slot)->slept < PAYS_ROUNDS)
        return;
    owed = atomic_exchange_explicit(owes, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < owed % WALL_OWED_RUNNABLE; i++)
        say_again(round, slot, FEED_STATE_RUNNING);
    for (uint32_t i = 0; i < owed / WALL_OWED_RUNNABLE; i++)
        say_again(round, slot, FEED_STATE_RUNNABLE);
}

/* The tag in force, copied by the kernel: the thread may wake, and free it. False: there is none.
 */
static bool copy_tag(const struct watch *watch, char out[TAG_BYTES + 1])
{
    const struct own_thread *own = atomic_load_explicit(&watch->own, memory_order_acquire);
    struct own_thread copy;
    const char *tag;
    struct iovec to = { out, TAG_BYTES }, from;
    long got;

    if (!own || !memory_read(&copy, (uint64_t)own, sizeof copy) || !(tag = own_thread_tag(&copy)))
        return false;
    /* Less than asked for where the memory ends before. */
    from = (struct iovec){ (void *)tag, TAG_BYTES };
    got = sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0);
    out[got > 0 ? got : 0] = 0;
    return got > 0;
}

static uint16_t holds_for(struct seen *thread, bool unknown_code)
{
    uint16_t before = thread->unknown_holds;

    thread->unknown_holds = 0;
    if (!unknown_code)
        return HOLDS_ROUNDS;
    thread->unknown_holds = before < HOLDS_UNKNOWN_MIN_ROUNDS   ? HOLDS_UNKNOWN_MIN_ROUNDS
                            : before < HOLDS_UNKNOWN_MAX_ROUNDS ? (uint16_t)(2 * before)
                                                                : before;
    return thread->unknown_holds;
}

enum taken { TAKEN, AWAKE, LOST };

/* just_woke: it did not sleep yet when the round began, but ran or (on_cpu is false) was about to.
 */
static enum taken take_asleep(struct round *round, uint32_t slot, const struct blocked *blocked,
                              bool just_woke, bool on_cpu)
{
    struct feed_header *header = round->threads->segment->header;
    struct seen *thread = seen_of(slot);
    uint32_t frames_max = segment_depth_max(round->threads->segment);
    uint64_t cpu_ns = thread->cpu_ns;
    struct unwind_result result;
    struct feed_sample *sample;
    struct ring_writer ring;
    char tag[TAG_BYTES + 1];
    bool tagged;

    segment_ring(round->threads->segment, 0, &ring);
    sample = ring_reserve(&ring, (uint32_t)(sizeof *sample + frames_max * sizeof(uint64_t)));
    if (!sample) {
        count_loss(round, FEED_LOSS_RING_FULL);
        return LOST;
    }
    thread->state = (uint8_t)(blocked->number < 0 ? state_outside(thread->tid)
                                                  : blocked_state(blocked->number));
    scratch->sleeper.pc = blocked->pc;
    scratch->sleeper.sp = blocked->sp;
    scratch->sleeper.fp_known =
        switches_fp(&thread->switches, blocked->pc, blocked->sp, &scratch->sleeper.fp);
    fill(round, slot, frames_max, sample, &result);
    if (just_woke)
        sample->state = on_cpu ? FEED_STATE_RUNNING : FEED_STATE_RUNNABLE;
    tagged = copy_tag(threads_watch(round->threads, slot), tag);
    /* Has it been where it was, all the time? */
    if (!read_cpu(thread->tid, &thread->cpu_ns) || thread->cpu_ns != cpu_ns)
        return AWAKE;
    if (tagged)
        sample->tag = segment_name(round->threads->segment, tag);
    ring_commit(&ring);
    thread->asleep = true;
    thread->ran = false;
    thread->holds = holds_for(thread, result.unknown_code);
    round->unknown_code |= result.unknown_code;
    count(&header->status.delivered, 1);
    count(&header->status.ends[result.end], 1);
    return TAKEN;
}

/* Since its clock was read. */
static bool has_moved(struct seen *thread)
{
    uint64_t before_ns = thread->cpu_ns;

    return read_cpu(thread->tid, &thread->cpu_ns) && thread->cpu_ns != before_ns;
}

/* A thread that has just woken may still be in poll, which would return EINTR: it is left alone for
 * a moment. Most such threads sleep again by then. */
static void look_later(struct round *round, uint32_t slot)
{
    scratch->woken[round->woken_count++] =
        (struct woken){ .slot = (uint16_t)slot, .on_cpu = has_moved(seen_of(slot)) };
}

/* moved: the thread's clock has, since the look before. second: it is the second look of this
 * round, and on_cpu is what the first one saw. Whether a thread runs is told by its clock over a
 * time, not at an instant: at the instant the sampler's own thread may have taken its processor. */
static void look_closely(struct round *round, uint32_t slot, bool moved, bool second, bool on_cpu)
{
    struct seen *thread = seen_of(slot);

    thread->asleep = false;
    for (int tries = 0; tries < TRIES; tries++) {
        struct blocked blocked;
        int error = read_blocked(thread, &blocked);

        if (error == -ESRCH || error == -ENOENT)
            return;
        if (error) {
            count_loss(round, FEED_LOSS_NO_TIMER);
            return;
        }
        if (blocked.runs && !second && !thread->ran) {
            look_later(round, slot);
            return;
        }
        if (blocked.runs) {
            owe(round, slot, moved);
            return;
        }
        if (!tries)
            count(&round->threads->segment->header->status.ticks, 1);
        if (take_asleep(round, slot, &blocked, second, on_cpu) != AWAKE)
            return;
    }
    count_loss(round, FEED_LOSS_AWAKE);
}

static void look_at(struct round *round, uint32_t slot)
{
    struct seen *thread = seen_of(slot);
    bool moved = meet(round, slot);
    uint64_t cpu_ns;

    if (!read_cpu(thread->tid, &cpu_ns))
        return;
    moved |= cpu_ns != thread->cpu_ns;
    thread->cpu_ns = cpu_ns;
    if (moved || !thread->asleep || !thread->holds) {
        look_closely(round, slot, moved, false, false);
        return;
    }
    thread->holds--;
    say_again(round, slot, (enum feed_state)thread->state);
    pay(round, slot);
}

static void look_a_second_time(struct round *round)
{
    const struct timespec moment = { 0, SECOND_LOOK_US * 1000 };

    if (!round->woken_count)
        return;
    sys_call2(SYS_nanosleep, &moment, NULL);
    for (uint32_t i = 0; i < round->woken_count; i++) {
        const struct woken *woken = &scratch->woken[i];
        bool moved = has_moved(seen_of(woken->slot));

        look_closely(round, woken->slot, moved, true, woken->on_cpu);
    }
}

static bool make_memory(uint32_t used)
{
    if (!scratch)
        scratch = pages_new(sizeof *scratch);
    return scratch && by_slot_reach(&seen, used ? used - 1 : 0, sizeof(struct seen));
}

bool wall_round(struct threads *threads, struct modules *modules, const struct named_code *named,
                uint64_t missed)
{
    struct feed_status *status = &threads->segment->header->status;
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    struct round round = { .threads = threads, .named = named };
    uint64_t looked_at = 0;
    uint32_t group;

    if (!make_memory(used)) {
        count(&status->lost[FEED_LOSS_LATE], missed + 1);
        return false;
    }
    thread_choice_follow(threads->segment);
    round.map = code_map_enter(&modules->maps, &group);
    round.unknown_code = !round.map;
    for (uint32_t slot = 1; slot < used; slot++) {
        if (atomic_load_explicit(&threads_watch(threads, slot)->state, memory_order_acquire) !=
            WATCH_ARMED) {
            forget(seen_of(slot)); /* its descriptors, if there was one */
            continue;
        }
        if (!thread_chosen(threads->segment, slot, threads_watch(threads, slot)->tid)) {
            forget(seen_of(slot));
            continue;
        }
        looked_at++;
        if (round.map)
            look_at(&round, slot);
        else
            count_loss(&round, FEED_LOSS_NO_TABLES);
    }
    look_a_second_time(&round);
    flush_again(&round);
    code_map_leave(&modules->maps, group);
    count(&status->lost[FEED_LOSS_LATE], looked_at * missed);
    return round.unknown_code;
}

void wall_forget(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used && seen_of(slot); slot++) {
        forget(seen_of(slot));
        atomic_store_explicit(&threads_watch(threads, slot)->owed, 0, memory_order_relaxed);
    }
}

void wall_look_again(const struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (seen_of(slot))
            seen_of(slot)->holds = 0;
}

void wall_forget_parent(void)
{
    by_slot_clear(&seen, sizeof(struct seen));
    pages_forget(scratch, sizeof *scratch);
}
