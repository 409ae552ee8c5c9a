#include "loop_watch.h"

#include <string.h>

enum { LOOKS_KNOWN = 2 }; /* looks that met a dispatch whose time is known */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct stall_range between(struct stall_range start, struct stall_range end)
{
    return (struct stall_range){ larger(0, end.min - start.max), larger(0, end.max - start.min) };
}

/* From a range on: the dispatch, or what follows a progress in it. */
static void open_stretch(struct loop_watch *watch, uint64_t mark, struct stall_range start)
{
    watch->open = (struct loop_stretch){
        .mark = mark,
        .start_ns = start,
        .exact = start.min == start.max,
        .level = STALL_LEVEL_COUNT,
        .asked = watch->open.asked && watch->open.mark == mark,
    };
}

static void close_stretch(struct loop_watch *watch, struct stall_range end, bool whole)
{
    watch->over = watch->open;
    watch->over.took_ns = between(watch->open.start_ns, end);
    watch->over_whole = whole;
    watch->over_dispatch_ns = between(watch->began_ns, end);
    watch->has_over = watch->looks >= LOOKS_KNOWN || watch->open.exact || watch->open.asked;
}

/* A dispatch that a single look met, or none, may have taken any time up to that between looks. Looks meet such as
 * often as they are long, so each that met one stands for the time since the look before. */
static void count_short(struct loop_watch *watch)
{
    watch->shorts++;
    watch->shorts_ns += watch->open.met_ns;
}

/* The end is exact where the program was asked for it, and says what can be. */
static struct stall_range end_range(const struct loop_watch *watch, const struct loop_look *look)
{
    if (watch->open.asked && look->ended_ns != watch->ended_ns &&
        look->ended_ns >= watch->looked_ns && look->ended_ns <= look->after_ns)
        return (struct stall_range){ look->ended_ns, look->ended_ns };
    return (struct stall_range){ watch->looked_ns, look->after_ns };
}

static struct stall_range end_dispatch(struct loop_watch *watch, const struct loop_look *look)
{
    struct stall_range end = end_range(watch, look);

    close_stretch(watch, end, true);
    if (!watch->has_over)
        count_short(watch);
    return end;
}

/* It began at the noted time, or after it. The program's word is believed where it can be true. */
static void narrow_by_note(struct stall_range *start, const struct loop_look *look)
{
    if (look->noted_mark > look->mark || look->noted_ns < start->min || look->noted_ns > start->max)
        return;
    start->min = look->noted_ns;
    if (look->noted_mark == look->mark)
        start->max = look->noted_ns;
}

static void begin_dispatch(struct loop_watch *watch, const struct loop_look *look, int64_t least_ns)
{
    watch->began_ns = (struct stall_range){ larger(watch->looked_ns, least_ns), look->after_ns };
    narrow_by_note(&watch->began_ns, look);
    watch->looks = 0;
    watch->open.mark = 0;
    open_stretch(watch, look->mark, watch->began_ns);
    /* A note says no more of the end: one that a single look met stays a short one. */
    watch->open.exact = false;
    watch->open.met_ns = look->before_ns - watch->looked_ns;
}

/* Of a dispatch that may be the first after a rest. The program's word is believed where it can be true. */
static void narrow_begin(struct loop_watch *watch, const struct loop_look *look)
{
    struct stall_range *start = &watch->open.start_ns;

    if (watch->open.exact || look->woken_ns < start->min || look->woken_ns > start->max)
        return;
    start->min = look->woken_ns;
    if (look->alone && watch->rested) {
        start->max = look->woken_ns;
        watch->open.exact = true;
    }
    watch->began_ns = *start;
}

static void meet(struct loop_watch *watch, const struct loop_look *look)
{
    struct stall_range now = { look->before_ns, look->after_ns };

    watch->looks++;
    watch->open.looks++;
    if (watch->looks <= LOOKS_KNOWN && look->woken_ns)
        narrow_begin(watch, look);
    watch->open.took_ns = between(watch->open.start_ns, now);
}

static void go_on(struct loop_watch *watch, const struct loop_look *look)
{
    if (watch->progress == look->progress)
        return;
    close_stretch(watch, (struct stall_range){ watch->looked_ns, look->after_ns }, false);
    open_stretch(watch, look->mark, (struct stall_range){ watch->looked_ns, look->after_ns });
}

static void change_mark(struct loop_watch *watch, const struct loop_look *look)
{
    uint64_t ended = (look->mark >> 1) - (watch->mark >> 1), unmet = ended;
    int64_t least_ns = 0;
    bool next = look->mark == watch->mark + 1;

    watch->dispatches += ended;
    if (watch->mark % 2) {
        least_ns = end_dispatch(watch, look).min;
        unmet--;
    }
    watch->shorts += unmet;
    watch->rested = watch->rested && next;
    watch->looks = 0;
    if (look->mark % 2)
        begin_dispatch(watch, look, least_ns);
}

/* More than one in a nanosecond, or back: nobody ran those. */
static bool is_believable(const struct loop_watch *watch, const struct loop_look *look)
{
    return look->mark >= watch->mark && look->after_ns >= watch->looked_ns &&
           look->mark - watch->mark <= (uint64_t)(look->after_ns - watch->looked_ns) + 2;
}

static void begin_anew(struct loop_watch *watch, const struct loop_look *look)
{
    uint64_t dispatches = watch->dispatches, shorts = watch->shorts;
    int64_t shorts_ns = watch->shorts_ns;

    memset(watch, 0, sizeof(*watch));
    watch->begun = true;
    watch->dispatches = dispatches;
    watch->shorts = shorts;
    watch->shorts_ns = shorts_ns;
    /* Busy since when nobody knows: since now, at the latest. */
    watch->looked_ns = look->before_ns;
    if (look->mark % 2)
        begin_dispatch(watch, look, 0);
    watch->open.exact = false;
}

void loop_watch_begin(struct loop_watch *watch, int64_t looked_ns)
{
    watch->begun = watch->rested = true;
    watch->looked_ns = looked_ns;
}

void loop_watch_look(struct loop_watch *watch, const struct loop_look *look)
{
    if (!watch->begun || !is_believable(watch, look))
        begin_anew(watch, look);
    else if (look->mark != watch->mark)
        change_mark(watch, look);
    else if (look->mark % 2)
        go_on(watch, look);
    watch->mark = look->mark;
    watch->progress = look->progress;
    if (look->mark % 2)
        meet(watch, look);
    else
        watch->rested = false;
    if (!watch->open.asked || look->mark % 2 == 0)
        watch->ended_ns = look->ended_ns;
    watch->looked_ns = look->before_ns;
}

/* The highest level that is over for certain; COUNT: none. */
static enum stall_level level_of(const struct loop_stretch *stretch,
                                 const struct loop_limits *limits)
{
    enum stall_level level = STALL_LEVEL_COUNT;

    for (int i = 0; i < STALL_LEVEL_COUNT; i++)
        if (stretch->took_ns.min >= limits->ns[i])
            level = (enum stall_level)i;
    return level;
}

/* STALL after JANK, HANG after STALL: each is told. */
static bool climb(struct loop_stretch *stretch, const struct loop_limits *limits)
{
    enum stall_level highest = level_of(stretch, limits);
    enum stall_level next = stretch->level == STALL_LEVEL_COUNT
                                ? STALL_LEVEL_STALL
                                : (enum stall_level)(stretch->level + 1);

    if (highest == STALL_LEVEL_COUNT || next > highest)
        return false;
    stretch->level = next;
    return true;
}

static bool is_past(const struct loop_stretch *stretch, int64_t limit_ns)
{
    return stretch->took_ns.min >= limit_ns - limit_ns / 5;
}

/* An over one that nobody was in time for: all that it reached is told, then its end. */
static enum loop_step step_over(struct loop_watch *watch, const struct loop_limits *limits,
                                struct loop_news *out)
{
    enum stall_level highest = level_of(&watch->over, limits);
    bool stalled = highest != STALL_LEVEL_COUNT && highest >= STALL_LEVEL_STALL;

    if (stalled && !watch->over.armed) {
        watch->over.armed = true;
        out->stretch = watch->over;
        return LOOP_ARMED;
    }
    if (stalled && climb(&watch->over, limits)) {
        out->stretch = watch->over;
        out->level = watch->over.level;
        return LOOP_REACHED;
    }
    watch->has_over = false;
    out->stretch = watch->over;
    out->level = highest;
    out->whole = watch->over_whole;
    out->dispatch_ns = watch->over_dispatch_ns;
    return LOOP_ENDED;
}

enum loop_step loop_watch_step(struct loop_watch *watch, const struct loop_limits *limits,
                               struct loop_news *out)
{
    struct loop_stretch *open = &watch->open;
    enum loop_step step = LOOP_NOTHING;

    memset(out, 0, sizeof(*out));
    out->level = STALL_LEVEL_COUNT;
    if (watch->has_over)
        return step_over(watch, limits, out);
    if (!loop_watch_busy(watch))
        return LOOP_NOTHING;
    if (!open->asked && is_past(open, limits->ns[STALL_LEVEL_JANK])) {
        open->asked = true;
        step = LOOP_ASK_END;
    } else if (!open->armed && is_past(open, limits->ns[STALL_LEVEL_STALL])) {
        open->armed = true;
        step = LOOP_ARMED;
    } else if (open->armed && climb(open, limits)) {
        out->level = open->level;
        step = LOOP_REACHED;
    }
    out->stretch = *open;
    return step;
}

void loop_watch_rests(struct loop_watch *watch)
{
    watch->rested = !loop_watch_busy(watch);
}

void loop_watch_close(struct loop_watch *watch, int64_t now_ns)
{
    /* now may be of a moment before the last look's words were read. */
    const int64_t end_ns = larger(now_ns, watch->looked_ns);
    const struct loop_look look = { .before_ns = end_ns, .after_ns = end_ns };

    if (!loop_watch_busy(watch))
        return;
    watch->dispatches++;
    end_dispatch(watch, &look);
    watch->mark++;
    watch->looked_ns = end_ns;
}

void loop_watch_began(struct loop_watch *watch, struct stall_range began)
{
    if (!loop_watch_busy(watch))
        return;
    watch->began_ns = (struct stall_range){ began.max, began.max }; /* the ping */
    open_stretch(watch, watch->mark, began);
    watch->open.looks = watch->looks;
    watch->open.asked = true; /* all times of such a dispatch are known as well as they can be */
}

void loop_watch_reset(struct loop_watch *watch, int64_t now_ns)
{
    watch->has_over = false;
    watch->rested = false;
    watch->looked_ns = larger(watch->looked_ns, now_ns);
    if (!loop_watch_busy(watch))
        return;
    watch->began_ns = (struct stall_range){ now_ns, now_ns };
    open_stretch(watch, watch->mark, watch->began_ns);
    watch->open.looks = watch->looks;
}

struct loop_shorts loop_watch_take(struct loop_watch *watch)
{
    const struct loop_shorts taken = { watch->dispatches, watch->shorts, watch->shorts_ns };

    watch->dispatches = watch->shorts = 0;
    watch->shorts_ns = 0;
    return taken;
}
