#include "watched_loop.h"

#include <stdlib.h>
#include <string.h>

enum {
    PINGS_IN_LIMIT = 5,
    LATE_LOOK_NS = 5000000,
    LONG_NS = 500000000, /* late ones that take longer are looked at less often */
    LONG_LOOK_NS = 50000000,
    CLOCK_TEXT = 128,
};

static bool read_clock(struct watched_loop *loop, const struct loop_round *round,
                       struct thread_clock *out)
{
    char text[CLOCK_TEXT];

    if (round->pid <= 0)
        return false;
    if (!loop->tid_here)
        loop->tid_here = round->pid == feed_reader_pid(round->reader)
                             ? loop->tid
                             : task_number_here(round->pid, loop->tid);
    return loop->tid_here > 0 &&
           task_kept_read(&loop->clock_file, round->pid, loop->tid_here, "schedstat", text,
                          sizeof(text)) > 0 &&
           thread_clock_parse(text, out);
}

static void forget_late(struct watched_loop *loop)
{
    if (loop->late) {
        late_thread_end(loop->late);
        free(loop->late);
    }
    loop->late = NULL;
    loop->told = false;
    loop->look_ns = INT64_MAX;
}

/* The thread may have got its slot since the loop was made. */
static void begin_late(struct watched_loop *loop, const struct loop_round *round)
{
    struct feed_loop_view view;

    if (loop->late || !round->subject)
        return;
    if (feed_reader_loop(round->reader, loop->entry, &view) && view.generation == loop->generation)
        loop->slot = view.slot;
    loop->late = calloc(1, sizeof(*loop->late));
    if (loop->late &&
        late_thread_begin(loop->late, round->subject, loop->slot, loop->tid, round->now_ns) < 0)
        forget_late(loop);
}

/* What is said of a stretch; evidence: of the caller. */
static struct late_dispatch describe(const struct watched_loop *loop,
                                     const struct loop_stretch *stretch,
                                     struct stall_evidence *evidence)
{
    struct late_dispatch late = {
        .process_id = loop->process_id,
        .loop = loop->number,
        .mark = stretch->mark,
        .tid = loop->tid,
        .name = loop->name,
        .thread_name = loop->thread_name,
        .limit_ns = loop->limits.ns[STALL_LEVEL_STALL],
        .start_ns = stretch->start_ns,
        .duration_ns = stretch->took_ns,
        .evidence = evidence,
        .cause = STALL_CAUSE_UNKNOWN,
    };

    *evidence = (struct stall_evidence){ .descriptor = -1 };
    if (loop->late)
        *evidence = *late_thread_evidence(loop->late);
    evidence->host_late_ns = loop->host_late_ns;
    if (loop->late)
        late.cause = late_thread_cause(loop->late, stretch->took_ns.max, loop->host_late_ns);
    return late;
}

static void report(const struct watched_loop *loop, const struct loop_round *round,
                   void (*to)(void *context, const struct late_dispatch *late),
                   const struct loop_stretch *stretch)
{
    struct stall_evidence evidence;
    const struct late_dispatch late = describe(loop, stretch, &evidence);

    to(round->reports->context, &late);
}

/* It is no stall. Limits count anew, so that one that hangs later is found all the same. */
static void dismiss(struct watched_loop *loop, const struct loop_round *round)
{
    if (loop->told)
        report(loop, round, round->reports->dismissed, &loop->watch.open);
    if (loop->dismissed_mark != loop->watch.mark)
        loop->stats.dismissed++;
    loop->dismissed_mark = loop->watch.mark;
    forget_late(loop);
    loop_watch_reset(&loop->watch, round->now_ns);
}

/* False: the dispatch is dismissed, or over. */
static bool look_at_thread(struct watched_loop *loop, const struct loop_round *round)
{
    int64_t took_ns = loop->watch.open.took_ns.min;

    loop->look_ns = round->now_ns + (took_ns < LONG_NS ? LATE_LOOK_NS : LONG_LOOK_NS);
    if (!loop->late)
        return true;
    switch (late_thread_look(loop->late, round->now_ns)) {
    case LATE_STOPPED:
    case LATE_TRACED:
        dismiss(loop, round);
        return false;
    case LATE_GONE:
        loop_watch_close(&loop->watch, round->now_ns);
        return false;
    default:
        return true;
    }
}

/* What nobody saw while it went on can have no looks. */
static void arm(struct watched_loop *loop, const struct loop_round *round,
                const struct loop_news *news)
{
    bool goes_on = loop_watch_busy(&loop->watch) && !loop->watch.has_over;

    if (goes_on) {
        begin_late(loop, round);
        if (!look_at_thread(loop, round) && !loop->watch.has_over)
            return;
    }
    loop->told = true;
    report(loop, round, round->reports->armed, &news->stretch);
}

static void reach(const struct watched_loop *loop, const struct loop_round *round,
                  const struct loop_news *news)
{
    struct stall_evidence evidence;
    const struct late_dispatch late = describe(loop, &news->stretch, &evidence);

    round->reports->reached(round->reports->context, &late, news->level);
}

static void count_end(struct watched_loop *loop, const struct loop_news *news)
{
    loop_stats_ended(&loop->stats, news->stretch.took_ns, news->level,
                     loop->limits.ns[STALL_LEVEL_JANK]);
    if (news->whole)
        loop_times_add(loop->pinged ? &loop->stats.delay : &loop->stats.dispatch,
                       news->dispatch_ns);
}

static void finish(struct watched_loop *loop, const struct loop_round *round,
                   const struct loop_news *news)
{
    bool stalled = news->level != STALL_LEVEL_COUNT && news->level >= STALL_LEVEL_STALL;
    struct stall_evidence evidence;
    struct late_dispatch late;

    count_end(loop, news);
    if (loop->told) {
        late = describe(loop, &news->stretch, &evidence);
        if (stalled)
            loop->stats.causes[late.cause]++;
        (stalled ? round->reports->ended : round->reports->dismissed)(round->reports->context,
                                                                      &late);
    }
    forget_late(loop);
}

static void take_steps(struct watched_loop *loop, const struct loop_round *round)
{
    struct loop_news news;

    for (;;) {
        switch (loop_watch_step(&loop->watch, &loop->limits, &news)) {
        case LOOP_NOTHING:
            return;
        case LOOP_ASK_END:
            if (!loop->pinged)
                feed_reader_loop_ask_end(round->reader, loop->entry, news.stretch.mark);
            begin_late(loop, round);
            break;
        case LOOP_ARMED:
            arm(loop, round, &news);
            break;
        case LOOP_REACHED:
            reach(loop, round, &news);
            break;
        case LOOP_ENDED:
            finish(loop, round, &news);
            break;
        }
    }
}

static void take_look(struct watched_loop *loop, const struct loop_round *round,
                      const struct loop_look *look)
{
    uint64_t before = loop->watch.mark;

    if (loop_watch_busy(&loop->watch))
        loop->host_late_ns += (uint64_t)round->late_ns;
    loop_watch_look(&loop->watch, look);
    take_steps(loop, round);
    if (loop->watch.mark != before && look->mark != before)
        loop->host_late_ns = 0;
}

static int64_t ping_every_ns(const struct watched_loop *loop)
{
    return loop->limits.ns[STALL_LEVEL_STALL] / PINGS_IN_LIMIT;
}

static bool ping_wanted(struct watched_loop *loop, const struct loop_round *round)
{
    struct thread_clock clock;

    if (loop->ping.due)
        return true;
    return round->now_ns >= ping_next_ns(&loop->ping, ping_every_ns(loop)) &&
           read_clock(loop, round, &clock) && ping_is_due(&loop->ping, &clock, round->now_ns);
}

static void hear_ping(struct watched_loop *loop, const struct loop_round *round)
{
    const struct feed_loop_marks *marks = &loop->marks;
    struct loop_look look = { .before_ns = loop->before_ns, .after_ns = loop->after_ns };
    struct thread_clock clock;

    if (ping_answered(&loop->ping, marks->ping_asked, marks->ping_posted, marks->ping_seen,
                      loop->watch.looked_ns) &&
        read_clock(loop, round, &clock))
        ping_rests(&loop->ping, &clock);
    look.mark = ping_mark(&loop->ping);
    take_look(loop, round, &look);
    /* It is not with the loop yet. */
    if (loop->ping.out && !loop->ping.posted)
        loop_watch_began(&loop->watch, ping_began(&loop->ping, loop->before_ns));
}

static void send_ping(struct watched_loop *loop, const struct loop_round *round)
{
    struct loop_look look = { .before_ns = loop->after_ns, .after_ns = loop->after_ns };

    ping_ask(&loop->ping, round->now_ns);
    feed_reader_loop_ping(round->reader, loop->entry);
    look.mark = ping_mark(&loop->ping);
    take_look(loop, round, &look);
    loop_watch_began(&loop->watch, ping_began(&loop->ping, loop->after_ns));
}

static int64_t look_at_ping(struct watched_loop *loop, const struct loop_round *round)
{
    int64_t next_ns;

    hear_ping(loop, round);
    if (!loop->ping.out && ping_wanted(loop, round))
        send_ping(loop, round);
    if (loop->ping.out)
        return round->now_ns + CLOSE_LOOK_NS;
    next_ns = ping_next_ns(&loop->ping, ping_every_ns(loop));
    /* One that rested when its clock was read is asked by the collector's rounds. */
    return loop->ping.looked_ns == round->now_ns || next_ns <= round->now_ns ? INT64_MAX : next_ns;
}

static void look_at_dispatches(struct watched_loop *loop, const struct loop_round *round,
                               const struct loop_look *look)
{
    struct loop_shorts shorts;

    take_look(loop, round, look);
    shorts = loop_watch_take(&loop->watch);
    loop_stats_shorts(&loop->stats, &shorts, round->now_ns);
    if (shorts.dispatches || loop_watch_busy(&loop->watch))
        loop->busy_ns = round->now_ns;
}

/* How soon the next look is wanted. A dispatch that is met when it is young will mostly be over soon; and when it is not,
 * its begin is known. */
static int64_t look_after_ns(const struct watched_loop *loop)
{
    bool close = loop_watch_busy(&loop->watch) && loop->watch.open.took_ns.max >= CLOSE_AFTER_NS;

    return close || loop->limits.ns[STALL_LEVEL_JANK] < 4 * (int64_t)LOOK_NS ? CLOSE_LOOK_NS
                                                                             : LOOK_NS;
}

static int64_t look_at_marks(struct watched_loop *loop, const struct loop_round *round)
{
    const struct loop_look look = {
        .before_ns = loop->before_ns,
        .after_ns = loop->after_ns,
        .mark = loop->marks.mark,
        .progress = loop->marks.progress,
        .ended_ns = loop->marks.ended_ns,
        .noted_mark = loop->marks.noted_mark,
        .noted_ns = loop->marks.noted_ns,
        .woken_ns = round->woken_ns,
        .alone = round->alone,
    };

    if (!loop_watch_idles(&loop->watch, &look))
        look_at_dispatches(loop, round, &look);
    feed_reader_loop_note_begins(round->reader, loop->entry, loop->marks.mark);
    return loop->busy_ns && round->now_ns - loop->busy_ns < LINGER_NS
               ? round->now_ns + look_after_ns(loop)
               : INT64_MAX;
}

/* Its first dispatch: from now on it tells them. */
static void follow_kind(struct watched_loop *loop)
{
    bool pinged = loop->has_ping && !loop->marks.mark;

    if (pinged == loop->pinged)
        return;
    loop->pinged = pinged;
    loop->ping = (struct ping){ 0 };
    loop->watch = (struct loop_watch){ 0 };
}

int64_t watched_loop_look(struct watched_loop *loop, const struct loop_round *round)
{
    int64_t next_ns;

    if (round->suspended) {
        if (loop->told)
            dismiss(loop, round);
        loop_watch_reset(&loop->watch, round->now_ns);
    }
    follow_kind(loop);
    next_ns = loop->pinged ? look_at_ping(loop, round) : look_at_marks(loop, round);
    if (loop->told && round->now_ns >= loop->look_ns) {
        if (look_at_thread(loop, round))
            report(loop, round, round->reports->looked, &loop->watch.open);
        take_steps(loop, round);
    }
    return loop->told && loop->look_ns < next_ns ? loop->look_ns : next_ns;
}

bool watched_loop_clock(struct watched_loop *loop, const struct loop_round *round,
                        struct cpu_use *out)
{
    struct thread_clock clock;
    uint64_t dispatches = loop->stats.dispatches;

    if (loop->ended || !read_clock(loop, round, &clock))
        return false;
    /* Of pings the delay is measured. */
    if (loop->clocked && !loop->pinged && clock.wait_ns >= loop->clock.wait_ns)
        loop_times_add_mean(&loop->stats.delay, dispatches - loop->clock_dispatches,
                            clock.wait_ns - loop->clock.wait_ns);
    loop->clocked = true;
    loop->clock = clock;
    loop->clock_dispatches = dispatches;
    return cpu_rule_feed(&loop->cpu, clock.run_ns, round->now_ns, out);
}

bool watched_loop_wants_ping(struct watched_loop *loop, const struct loop_round *round)
{
    return loop->pinged && loop->watched && !loop->ping.out && ping_wanted(loop, round);
}

void watched_loop_end(struct watched_loop *loop, const struct loop_round *round)
{
    loop_watch_close(&loop->watch, round->now_ns);
    take_steps(loop, round);
    forget_late(loop);
    task_kept_close(&loop->clock_file);
    loop->ended = true;
}

void watched_loop_forget(struct watched_loop *loop, const struct loop_round *round)
{
    if (loop->told)
        report(loop, round, round->reports->dismissed, &loop->watch.open);
    forget_late(loop);
    task_kept_close(&loop->clock_file);
    loop->clocked = loop->pinged = false;
    loop->ping = (struct ping){ 0 };
    loop->watch = (struct loop_watch){ 0 };
}

void watched_loop_clear(struct watched_loop *loop)
{
    loop->stats = (struct loop_stats){ 0 };
    loop->clock_dispatches = 0;
}

void watched_loop_tell(const struct watched_loop *loop, struct loop_info *out)
{
    *out = (struct loop_info){
        .number = loop->number,
        .process_id = loop->process_id,
        .tid = loop->tid,
        .name = loop->name,
        .thread_name = loop->thread_name,
        .kind = loop->kind,
        .ended = loop->ended,
        .watched = loop->watched,
        .busy = !loop->ended && loop_watch_busy(&loop->watch),
    };
    loop_stats_tell(&loop->stats, out);
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        out->limits_ms[level] = (uint32_t)(loop->limits.ns[level] / 1000000);
}
