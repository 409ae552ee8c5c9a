/*
 * loop_bench.c - what marks of loops cost the program.
 *
 *     loop_bench pairs SECONDS    ns a registered loop's begin and end, beside two reads of the clock
 *     loop_bench waits SECONDS    ns an epoll_wait for a descriptor that is always ready, in a thread whose loop is
 *                                 learned, beside libc's own and one between two reads of the clock
 *     loop_bench others SECONDS   the same for poll on one descriptor, which teaches nothing
 *
 * All ways in turn, in slices of a tenth of a millisecond, so that what the machine does besides meets all of them;
 * medians, as one line of JSON. The program is not linked with isoscope: preloaded, its calls are wrapped, and
 * libc's own are asked for by name.
 */
#include <isoscope/optional.h>

#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

enum { ROUNDS = 200, SLICES_MAX = 16384, NS_PER_S = 1000000000 };

/* A step that the compiler can neither drop nor fold. */
#define STEP(state) __asm__ volatile("" : "+r"(state))

static struct isoscope_loop *loop;
static int ready;
static volatile uint64_t clock_seen;
static int (*libc_epoll_wait)(int, struct epoll_event *, int, int);
static int (*libc_poll)(struct pollfd *, nfds_t, int);

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void nothing(void)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < ROUNDS; i++)
        STEP(state);
}

static void pairs(void)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        isoscope_loop_begin(loop);
        STEP(state);
        isoscope_loop_end(loop);
    }
}

static void clocks(void)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        clock_seen = now_ns();
        STEP(state);
        clock_seen = now_ns();
    }
}

static void wait_by(int (*wait)(int, struct epoll_event *, int, int))
{
    struct epoll_event event;

    for (uint32_t i = 0; i < ROUNDS; i++)
        wait(ready, &event, 1, -1);
}

static void waits(void)
{
    wait_by(epoll_wait);
}

static void libc_waits(void)
{
    wait_by(libc_epoll_wait);
}

/* As a wrapper would that times dispatches itself. */
static void timed_waits(void)
{
    struct epoll_event event;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        clock_seen = now_ns();
        libc_epoll_wait(ready, &event, 1, -1);
        clock_seen = now_ns();
    }
}

static void poll_by(int (*call)(struct pollfd *, nfds_t, int))
{
    struct pollfd one = { ready, POLLIN, 0 };

    for (uint32_t i = 0; i < ROUNDS; i++)
        call(&one, 1, -1);
}

static void polls(void)
{
    poll_by(poll);
}

static void libc_polls(void)
{
    poll_by(libc_poll);
}

static void open_ready(void)
{
    struct epoll_event event = { .events = EPOLLIN };
    int fd = eventfd(1, 0);

    ready = epoll_create1(0);
    epoll_ctl(ready, EPOLL_CTL_ADD, fd, &event);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double time_of(void (*way)(void))
{
    uint64_t begin = now_ns();

    way();
    return (double)(now_ns() - begin) / ROUNDS;
}

struct way {
    const char *mode, *name;
    void (*run)(void);
};

static const struct way all_ways[] = {
    { "pairs", "nothing", nothing },  { "pairs", "nothing_again", nothing },
    { "pairs", "pair", pairs },       { "pairs", "clocks", clocks },
    { "waits", "libc", libc_waits },  { "waits", "libc_again", libc_waits },
    { "waits", "wrapped", waits },    { "waits", "timed", timed_waits },
    { "others", "libc", libc_polls }, { "others", "libc_again", libc_polls },
    { "others", "wrapped", polls },
};
enum { ALL_WAYS = sizeof all_ways / sizeof *all_ways };

static void measure(const char *mode, double seconds)
{
    static double slices[ALL_WAYS][SLICES_MAX];
    uint64_t end = now_ns() + (uint64_t)(seconds * NS_PER_S);
    uint32_t done = 0;
    const char *before = "{";

    for (; done < SLICES_MAX && now_ns() < end; done++)
        for (int i = 0; i < ALL_WAYS; i++)
            if (!strcmp(all_ways[i].mode, mode))
                slices[i][done] = time_of(all_ways[i].run);
    for (int i = 0; i < ALL_WAYS; i++) {
        if (strcmp(all_ways[i].mode, mode) != 0)
            continue;
        qsort(slices[i], done, sizeof(double), by_size);
        printf("%s\"%s\": %.2f", before, all_ways[i].name, slices[i][done / 2]);
        before = ", ";
    }
    puts("}");
}

int main(int count, char **words)
{
    void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);

    if (count < 3 || !libc)
        return 1;
    *(void **)&libc_epoll_wait = dlsym(libc, "epoll_wait");
    *(void **)&libc_poll = dlsym(libc, "poll");
    open_ready();
    if (!strcmp(words[1], "pairs"))
        loop = isoscope_loop_register("bench", NULL);
    measure(words[1], atof(words[2]));
    return 0;
}
