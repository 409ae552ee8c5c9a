#include "loop_subject.h"

#include "../../include/isoscope/isoscope.h"
#include "../wall/thread_choice.h"
#include "full_look.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCKS_NS = 1000000000 };

int loop_subject_new(struct loop_subject **out, struct feed_reader *reader, uint64_t process_id,
                     int32_t pid, struct subject *wall)
{
    struct loop_subject *subject = calloc(1, sizeof(*subject));

    if (!subject)
        return -ISOSCOPE_NO_MEMORY;
    subject->reader = reader;
    subject->process_id = process_id;
    subject->pid = pid;
    subject->wall = pid > 0 ? wall : NULL;
    if (subject->wall && unwatched_new(&subject->unwatched, subject->wall, process_id) < 0)
        subject->unwatched = NULL;
    *out = subject;
    return 0;
}

void loop_subject_free(struct loop_subject *subject)
{
    unwatched_free(subject->unwatched);
    free(subject->loops);
    free(subject);
}

/* Another sum: other loops. marks: NULL: there is none in that entry. */
static uint64_t add_entry(uint64_t sum, const struct feed_loop_marks *marks)
{
    return sum * 31 + (marks ? marks->generation * UINT64_C(4) + marks->state : 0);
}

static uint64_t entries_of(const struct loop_subject *subject)
{
    uint32_t count = feed_reader_loops(subject->reader);
    struct feed_loop_marks marks;
    uint64_t sum = count;

    for (uint32_t entry = 1; entry < count; entry++)
        sum =
            add_entry(sum, feed_reader_loop_marks(subject->reader, entry, &marks) ? &marks : NULL);
    return sum;
}

static bool rests(const struct loop_subject *subject)
{
    int64_t woken_ns;

    return feed_reader_loops_resting(subject->reader, &woken_ns);
}

static bool has_woken(const struct loop_subject *subject)
{
    return atomic_load(&subject->rests) && !rests(subject);
}

bool loop_subject_calls(const struct loop_subject *subject)
{
    return has_woken(subject) || atomic_load(&subject->entries) != entries_of(subject);
}

static struct loop_round round_of(const struct loop_subject *subject, const struct loop_turn *turn)
{
    bool paused = atomic_load(&subject->paused);
    struct loop_round round = {
        .reader = subject->reader,
        .subject = paused ? NULL : subject->wall,
        .pid = paused ? 0 : subject->pid,
        .reports = turn->reports,
        .now_ns = turn->now_ns,
        .late_ns = turn->late_ns,
        .alone = subject->alone,
        .suspended = turn->suspended,
    };

    if (feed_reader_loops_resting(subject->reader, &round.woken_ns))
        round.woken_ns = 0;
    return round;
}

static bool is_chosen(const struct watched_loop *loop, const struct stall_settings *settings)
{
    if (settings->watch == FEED_WATCH_NONE)
        return false;
    return !*settings->names || thread_choice_matches(settings->names, loop->name, loop->tid) ||
           thread_choice_matches(settings->names, loop->thread_name, loop->tid);
}

/* Nobody is told any more of one that is not watched. */
static void choose(struct loop_subject *subject, struct watched_loop *loop,
                   const struct loop_turn *turn)
{
    const struct loop_round round = round_of(subject, turn);
    bool chosen = is_chosen(loop, turn->settings);

    if (loop->watched && !chosen)
        watched_loop_forget(loop, &round);
    loop->watched = chosen;
}

/* "": it has none yet. Where the feed does not know the thread, the kernel does. */
static void read_thread_name(struct loop_subject *subject, const struct watched_loop *loop,
                             char name[32])
{
    struct feed_thread_view thread;
    struct task_kept comm = { 0 };

    memset(name, 0, 32);
    if (loop->slot && feed_reader_thread(subject->reader, loop->slot, &thread) &&
        thread.tid == loop->tid)
        memcpy(name, thread.name, sizeof(thread.name));
    if (*name || subject->pid <= 0 || subject->pid != feed_reader_pid(subject->reader))
        return;
    if (task_kept_read(&comm, subject->pid, loop->tid, "comm", name, 32) <= 0)
        *name = 0;
    name[strcspn(name, "\n")] = 0;
    task_kept_close(&comm);
}

static void read_words(struct loop_subject *subject, struct watched_loop *loop,
                       const struct loop_turn *turn)
{
    struct feed_loop_view view;
    char name[32];

    if (!feed_reader_loop(subject->reader, loop->entry, &view))
        return;
    loop->kind = view.kind;
    loop->has_ping = view.has_ping;
    loop->slot = view.slot;
    loop->limits = loop_limits_of(turn->settings->limits_ms, view.limits_ms);
    read_thread_name(subject, loop, name);
    loop->thread_name = known_loops_text(turn->known, name);
    loop->name = *view.name ? known_loops_text(turn->known, view.name) : loop->thread_name;
    choose(subject, loop, turn);
}

void loop_subject_refresh(struct loop_subject *subject, const struct loop_turn *turn)
{
    for (uint32_t entry = 1; entry < subject->room; entry++)
        if (subject->loops[entry])
            read_words(subject, subject->loops[entry], turn);
}

static void end_loop(struct loop_subject *subject, uint32_t entry, const struct loop_turn *turn)
{
    const struct loop_round round = round_of(subject, turn);

    watched_loop_end(subject->loops[entry], &round);
    subject->loops[entry] = NULL;
    known_loops_ended(turn->known);
}

static void begin_loop(struct loop_subject *subject, uint32_t entry, const struct loop_turn *turn)
{
    struct feed_loop_view view;
    struct watched_loop *loop;

    if (!feed_reader_loop(subject->reader, entry, &view) ||
        !(loop = known_loops_add(turn->known, subject->process_id)))
        return;
    loop->entry = entry;
    loop->generation = view.generation;
    loop->tid = view.tid;
    if (subject->looked_ns)
        loop_watch_begin(&loop->watch, subject->looked_ns);
    subject->loops[entry] = loop;
    read_words(subject, loop, turn);
}

/* The feed has room for so many. */
static bool reach(struct loop_subject *subject, uint32_t count)
{
    struct watched_loop **loops = subject->loops;

    if (count <= subject->room)
        return true;
    loops = reallocarray(loops, count, sizeof(struct watched_loop *));
    if (!loops)
        return false;
    memset(loops + subject->room, 0, (count - subject->room) * sizeof(struct watched_loop *));
    subject->loops = loops;
    subject->room = count;
    return true;
}

/* Reads one entry's words, between two looks at the clock. An ended loop's are read once more, then it goes. Returns the
 * sum with them. */
static uint64_t read_entry(struct loop_subject *subject, uint32_t entry, uint64_t sum,
                           const struct loop_turn *turn)
{
    struct watched_loop *loop = subject->loops[entry];
    struct feed_loop_marks marks;
    int64_t before_ns = turn->clock_ns(turn->clock_context);
    bool there = feed_reader_loop_marks(subject->reader, entry, &marks);

    if (loop && (!there || marks.generation != loop->generation))
        end_loop(subject, entry, turn);
    if (there && !subject->loops[entry])
        begin_loop(subject, entry, turn);
    loop = subject->loops[entry];
    if (there && loop) {
        loop->marks = marks;
        loop->before_ns = before_ns;
        loop->after_ns = turn->clock_ns(turn->clock_context);
    }
    return add_entry(sum, there ? &marks : NULL);
}

static uint32_t read_entries(struct loop_subject *subject, const struct loop_turn *turn)
{
    uint32_t count = feed_reader_loops(subject->reader), moved = 0;
    uint64_t sum = count;

    if (!reach(subject, count))
        count = subject->room;
    for (uint32_t entry = 1; entry < count; entry++) {
        struct watched_loop *loop;

        sum = read_entry(subject, entry, sum, turn);
        loop = subject->loops[entry];
        moved += loop && loop->marks.mark != loop->watch.mark;
    }
    atomic_store(&subject->entries, sum);
    return moved;
}

/* Returns when one of them wants to be looked at. */
static int64_t look_at_loops(struct loop_subject *subject, const struct loop_turn *turn)
{
    const struct loop_round round = round_of(subject, turn);
    int64_t next_ns = INT64_MAX;

    for (uint32_t entry = 1; entry < subject->room; entry++) {
        struct watched_loop *loop = subject->loops[entry];
        int64_t wanted_ns = INT64_MAX;

        if (!loop)
            continue;
        if (loop->watched)
            wanted_ns = watched_loop_look(loop, &round);
        else
            loop->watch = (struct loop_watch){ .mark = loop->marks.mark };
        next_ns = wanted_ns < next_ns ? wanted_ns : next_ns;
        if (loop->marks.state == FEED_LOOP_ENDED) {
            end_loop(subject, entry, turn);
            feed_reader_loop_recycle(subject->reader, entry);
        }
    }
    return next_ns;
}

/* Each second while somebody looks. */
static void read_clocks(struct loop_subject *subject, const struct loop_turn *turn)
{
    const struct loop_round round = round_of(subject, turn);
    struct cpu_use use;

    if (turn->now_ns - subject->clocks_ns < CLOCKS_NS)
        return;
    subject->clocks_ns = turn->now_ns;
    loop_subject_refresh(subject, turn);
    for (uint32_t entry = 1; entry < subject->room; entry++) {
        struct watched_loop *loop = subject->loops[entry];

        if (loop && loop->watched && watched_loop_clock(loop, &round, &use))
            turn->cpu_high(subject->watcher, subject->process_id, loop->tid, &use);
    }
}

static void settle(struct loop_subject *subject)
{
    for (uint32_t entry = 1; entry < subject->room; entry++)
        if (subject->loops[entry])
            loop_watch_rests(&subject->loops[entry]->watch);
    subject->settled = true;
}

static void tell_rest(struct loop_subject *subject)
{
    feed_reader_loops_rest(subject->reader);
    atomic_store(&subject->rests, true);
}

bool loop_subject_begin(struct loop_subject *subject, int64_t now_ns)
{
    atomic_store(&subject->entries, entries_of(subject));
    tell_rest(subject);
    if (feed_reader_loops(subject->reader) > 1)
        return false;
    subject->looked_ns = now_ns;
    subject->settled = true;
    return true;
}

static bool watches_any(const struct loop_subject *subject)
{
    for (uint32_t entry = 1; entry < subject->room; entry++)
        if (subject->loops[entry] && subject->loops[entry]->watched)
            return true;
    return false;
}

/* All its loops are idle, and have been. */
static int64_t come_to_rest(struct loop_subject *subject, const struct loop_turn *turn)
{
    if (turn->settings->watch == FEED_WATCH_NONE)
        return INT64_MAX;
    if (atomic_load(&subject->rests)) {
        settle(subject);
        return INT64_MAX;
    }
    /* Those that are not watched may run: they would wake us again at once. */
    if (turn->now_ns - subject->woken_ns < LINGER_NS)
        return watches_any(subject) ? turn->now_ns + LOOK_NS : subject->woken_ns + LINGER_NS;
    tell_rest(subject);
    return turn->now_ns + CLOSE_LOOK_NS;
}

static void wake(struct loop_subject *subject, const struct loop_turn *turn)
{
    if (atomic_load(&subject->rests) && rests(subject))
        feed_reader_loops_wake(subject->reader);
    atomic_store(&subject->rests, false);
    subject->settled = false;
    subject->woken_ns = turn->now_ns;
}

static void look_at_all_threads(struct loop_subject *subject, const struct loop_turn *turn)
{
    if (subject->all_threads && subject->wall && !atomic_load(&subject->paused))
        late_all_threads(subject->wall, turn->now_ns);
    subject->all_threads = false;
}

int64_t loop_subject_look(struct loop_subject *subject, const struct loop_turn *turn)
{
    bool woken = has_woken(subject), pings = subject->pings;
    bool called = woken || (subject->settled && loop_subject_calls(subject));
    uint32_t moved;
    int64_t next_ns;

    look_at_all_threads(subject, turn);
    if (subject->settled && !called && !pings && !turn->suspended)
        return INT64_MAX;
    subject->pings = false;
    moved = read_entries(subject, turn);
    if (called || moved)
        subject->alone = woken && moved == 1;
    next_ns = look_at_loops(subject, turn);
    subject->looked_ns = turn->now_ns;
    if (called || (atomic_load(&subject->rests) && (moved || next_ns != INT64_MAX)))
        wake(subject, turn);
    read_clocks(subject, turn);
    return next_ns == INT64_MAX ? come_to_rest(subject, turn) : next_ns;
}

bool loop_subject_wants_ping(struct loop_subject *subject, const struct loop_turn *turn)
{
    const struct loop_round round = round_of(subject, turn);

    for (uint32_t entry = 1; entry < subject->room && subject->settled; entry++)
        if (subject->loops[entry] && watched_loop_wants_ping(subject->loops[entry], &round))
            subject->pings = true;
    return subject->pings;
}

void loop_subject_end(struct loop_subject *subject, const struct loop_turn *turn)
{
    read_entries(subject, turn);
    look_at_loops(subject, turn);
    for (uint32_t entry = 1; entry < subject->room; entry++)
        if (subject->loops[entry])
            end_loop(subject, entry, turn);
}
