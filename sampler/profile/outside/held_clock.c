#include "held_clock.h"

#include "../../feed/chance.h"
#include "../../capture/threads/user_clock.h"
#include "perf_descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_US = 40000, /* between two looks for a debugger */
    SHORT_NEWS = 16,
    SHORT_LOOKS = 100, /* rounds without news: no such threads are made any more */
    PERIOD_PARTS = 10, /* the shortest part of a period that new threads get */
};

/* Takes over fd. */
static void keep(struct held_clock *clock, int fd, int32_t tid)
{
    if (clock->count == clock->room) {
        size_t room = clock->room ? 2 * clock->room : 1;
        struct held_event *events = reallocarray(clock->events, room, sizeof(*events));

        if (!events) {
            close(fd);
            return;
        }
        clock->events = events;
        clock->room = room;
    }
    clock->events[clock->count++] = (struct held_event){ fd, tid };
    clock->had = true;
}

void held_clock_take(struct held_clock *clock, int fd, uint32_t period_us, bool runs)
{
    *clock = (struct held_clock){ .period_us = period_us, .runs = runs };
    if (fd < 0)
        return;
    if (!is_perf_descriptor(fd)) {
        close(fd);
        return;
    }
    keep(clock, fd, 0);
    /* A service before this one, whose clock it was, has stopped it at its end. */
    if (runs && clock->count)
        user_clock_run(fd, true);
}

/* Those that tick are stopped first: a copy of the descriptor may be somewhere else. */
static void close_all(struct held_clock *clock)
{
    for (size_t i = 0; i < clock->count; i++) {
        user_clock_run(clock->events[i].fd, false);
        close(clock->events[i].fd);
    }
    clock->count = 0;
}

void held_clock_drop(struct held_clock *clock)
{
    close_all(clock);
    free(clock->events);
    clock->events = NULL;
    clock->room = 0;
    clock->runs = false;
}

static void open_for(struct held_clock *clock, int32_t tid)
{
    long fd = user_clock_open(tid, clock->period_us, false);

    if (fd >= 0)
        keep(clock, (int)fd, tid);
    else
        clock->refused |= fd == -EACCES || fd == -EPERM;
}

/* A trap would end another program, of which this side may have the rights. */
static bool is_thread_of(int32_t pid, int32_t tid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
    return access(path, F_OK) == 0;
}

void held_clock_add(struct held_clock *clock, int32_t pid, int32_t tid)
{
    size_t before = clock->count;

    if (!before || !is_thread_of(pid, tid))
        return;
    open_for(clock, tid);
    if (clock->count > before && clock->runs)
        user_clock_run(clock->events[before].fd, true);
}

/* One for each thread that is there: they are not equal, and switches between them cost. */
static void open_anew(struct held_clock *clock, int32_t pid, uint32_t period_us)
{
    char path[32];
    struct dirent *entry;
    DIR *tasks;

    close_all(clock);
    clock->runs = clock->given_up = false;
    clock->period_us = period_us;
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (atoi(entry->d_name) > 0)
            open_for(clock, atoi(entry->d_name));
    if (tasks)
        closedir(tasks);
}

static bool is_traced(int32_t pid)
{
    static const char label[] = "\nTracerPid:\t";
    char path[32], text[1024];
    const char *found;
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    found = strstr(text, label);
    return found && atoi(found + sizeof(label) - 1) != 0;
}

/* True: that has changed. */
static bool look_for_tracer(struct held_clock *clock, int32_t pid, uint32_t suspects,
                            int64_t now_us)
{
    bool traced, before = clock->traced;

    if (!clock->had || pid <= 0 ||
        (suspects == clock->suspects_seen && now_us - clock->looked_us < LOOK_US))
        return false;
    clock->suspects_seen = suspects;
    clock->looked_us = now_us;
    traced = is_traced(pid);
    clock->traced = traced;
    return traced != before;
}

static void run_all(struct held_clock *clock, bool runs)
{
    for (size_t i = 0; i < clock->count; i++)
        user_clock_run(clock->events[i].fd, runs);
}

/* A clock that stands still costs at each switch, too: a tenth of a program that does little else.
 * So one that is left is closed. Between several threads it stays: opened again it would not be
 * equal in them, and their switches with each other would cost. */
static void give_up(struct held_clock *clock)
{
    close_all(clock);
    clock->given_up = clock->had;
}

/* A closed one, or one that cannot tick as fast. */
static bool must_open_anew(const struct held_clock *clock, uint32_t period_us)
{
    return clock->had && !clock->refused && (clock->given_up || period_us < clock->period_us);
}

static uint32_t random_below(struct held_clock *clock, uint32_t limit)
{
    return (uint32_t)((uint64_t)chance_next(&clock->random) * limit >> 32);
}

/* A thread's first tick comes when it has lived for a whole period: those that never do would never
 * be seen. While many are made, those to come get a part of it, taken by chance; the handler leaves
 * out what is too much. */
static void vary_first_ticks(struct held_clock *clock, uint32_t ended)
{
    uint32_t whole_us = clock->period_us, least_us = whole_us / PERIOD_PARTS;

    if (!clock->runs || !clock->count || clock->events[0].tid)
        return;
    if (ended - clock->short_seen >= SHORT_NEWS) {
        clock->short_seen = ended;
        clock->short_looks = SHORT_LOOKS;
        if (least_us < FEED_PERIOD_MIN_US)
            least_us = whole_us < FEED_PERIOD_MIN_US ? whole_us : FEED_PERIOD_MIN_US;
        user_clock_set_period(clock->events[0].fd,
                              least_us + random_below(clock, whole_us - least_us + 1));
    } else if (clock->short_looks && !--clock->short_looks) {
        user_clock_set_period(clock->events[0].fd, whole_us);
    }
}

bool held_clock_follow(struct held_clock *clock, int32_t pid, const struct feed_clock_view *wish,
                       uint32_t period_us, int64_t now_us)
{
    bool changed = look_for_tracer(clock, pid, wish->suspects, now_us), ran = clock->runs, runs;

    if (wish->reason == FEED_TIMER_REASON_SIGNAL || wish->stopped)
        close_all(clock);
    else if (wish->reason == FEED_TIMER_REASON_SWITCHES && wish->live <= 1 && clock->count)
        give_up(clock);
    runs = period_us && !clock->traced && wish->reason == FEED_TIMER_REASON_NONE && !wish->stopped;
    if (runs && must_open_anew(clock, period_us))
        open_anew(clock, pid, period_us);
    runs &= clock->count > 0;
    if (runs != clock->runs)
        run_all(clock, runs);
    clock->runs = runs;
    vary_first_ticks(clock, wish->short_ended);
    return changed || runs != ran;
}

enum feed_timer_reason held_clock_reason(const struct held_clock *clock)
{
    if (clock->traced)
        return FEED_TIMER_REASON_TRACED;
    return clock->refused && !clock->count ? FEED_TIMER_REASON_RIGHTS : FEED_TIMER_REASON_NONE;
}
