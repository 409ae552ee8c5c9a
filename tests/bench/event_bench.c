/*
 * event_bench.c - what events cost the program that tells them.
 *
 *     event_bench pairs [SECONDS [PEER]]    ns a begin/end pair, beside a read of the clock, and beside
 *                                           what event_peers/ makes of another tracer's client
 *     event_bench flood THREADS RATE SECONDS   so many events a second in all, and how many were told
 *
 * All ways in turn, in short slices, so that what the machine does besides meets all of them;
 * medians. A slice is a small part of a ring, and the service has time to read it before the next. The program need not be linked with isoscope: see isoscope/optional.h.
 */
#include <isoscope/optional.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAS_SDT
#include <sys/sdt.h>
#endif
#ifdef HAS_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "event_bench_lttng.h"
#endif

enum { PAIRS = 1000, SLICES_MAX = 4096, NS_PER_S = 1000000000, BURST_PER_S = 1000 };

/* A step that the compiler can neither drop nor fold. */
#define STEP(state) __asm__ volatile("" : "+r"(state))

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void nothing(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        STEP(state);
        STEP(state);
    }
}

static void clock_reads(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        state += now_ns();
        STEP(state);
    }
}

static void pairs(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        ISOSCOPE_BEGIN("bench", "pair");
        STEP(state);
        ISOSCOPE_END("bench");
        STEP(state);
    }
}

static void pairs_with(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        ISOSCOPE_BEGIN_WITH("bench", "pair", ISOSCOPE_UINT("round", i), ISOSCOPE_DOUBLE("x", 0.5));
        STEP(state);
        ISOSCOPE_END("bench");
        STEP(state);
    }
}

#ifdef HAS_SDT
static void sdt_pairs(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        DTRACE_PROBE(isoscope_bench, begin);
        STEP(state);
        DTRACE_PROBE(isoscope_bench, end);
        STEP(state);
    }
}
#endif

#ifdef HAS_LTTNG
static void lttng_pairs(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        lttng_ust_tracepoint(isoscope_bench, begin);
        STEP(state);
        lttng_ust_tracepoint(isoscope_bench, end);
        STEP(state);
    }
}
#endif

static void no_peer(uint32_t rounds)
{
    (void)rounds;
}
static void (*peer_pairs)(uint32_t rounds) = no_peer;

static void peer(uint32_t rounds)
{
    peer_pairs(rounds);
}

static bool start_peer(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW);
    bool (*start)(void) = handle ? (bool (*)(void))dlsym(handle, "peer_start") : NULL;
    void (*run)(uint32_t) = handle ? (void (*)(uint32_t))dlsym(handle, "peer_pairs") : NULL;

    if (!start || !run || !start()) {
        fprintf(stderr, "event_bench: %s\n", start && run ? "the peer does not start" : dlerror());
        return false;
    }
    peer_pairs = run;
    return true;
}

static const struct way {
    const char *name;
    void (*run)(uint32_t rounds);
} ways[] = {
    { "nothing", nothing },      { "clock", clock_reads },     { "pair", pairs },
    { "pair_with", pairs_with }, { "nothing_again", nothing }, { "peer", peer },
#ifdef HAS_SDT
    { "sdt", sdt_pairs },
#endif
#ifdef HAS_LTTNG
    { "lttng", lttng_pairs },
#endif
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static double taken[WAYS][SLICES_MAX];

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static int bench_pairs(double seconds)
{
    uint64_t end = now_ns() + (uint64_t)(seconds * NS_PER_S);
    const struct timespec rest = { 0, 2000000 };
    uint32_t slices = 0;

    for (; slices < SLICES_MAX && (slices < 16 || now_ns() < end); slices++) {
        for (int way = 0; way < WAYS; way++) {
            uint64_t began = now_ns();

            ways[way].run(PAIRS);
            taken[way][slices] = (double)(now_ns() - began) / PAIRS;
        }
        nanosleep(&rest, NULL); /* a full ring costs something else */
    }
    printf("{\"slices\": %u", slices);
    for (int way = 0; way < WAYS; way++) {
        qsort(taken[way], slices, sizeof taken[way][0], ascending);
        printf(", \"%s\": %.2f", ways[way].name, taken[way][slices / 2]);
    }
    printf("}\n");
    return 0;
}

/* ---- flood ---- */

struct flood {
    pthread_t thread;
    uint64_t per_s, told;
    double seconds;
};

/* In a thousand bursts a second, so that time is kept without a look at the clock for each. */
static void *flood(void *given)
{
    struct flood *own = given;
    uint64_t began = now_ns(), bursts = (uint64_t)(own->seconds * BURST_PER_S);

    for (uint64_t burst = 0; burst < bursts; burst++) {
        uint64_t due = began + burst * (NS_PER_S / BURST_PER_S);
        struct timespec until = { (time_t)(due / NS_PER_S), (long)(due % NS_PER_S) };

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        for (uint64_t i = 0; i < own->per_s / BURST_PER_S / 2; i++) {
            ISOSCOPE_BEGIN("flood", "slice");
            ISOSCOPE_END("flood");
            own->told += 2;
        }
    }
    return NULL;
}

static int bench_flood(int count, uint64_t rate, double seconds)
{
    struct flood *threads = calloc((size_t)count, sizeof *threads);
    uint64_t began = now_ns(), told = 0;

    for (int i = 0; i < count; i++) {
        threads[i].per_s = rate / (uint64_t)count;
        threads[i].seconds = seconds;
        pthread_create(&threads[i].thread, NULL, flood, &threads[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i].thread, NULL);
        told += threads[i].told;
    }
    printf("{\"told\": %llu, \"seconds\": %.3f}\n", (unsigned long long)told,
           (double)(now_ns() - began) / NS_PER_S);
    free(threads);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 2;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 3 && !strcmp(argv[1], "pairs") && !start_peer(argv[3]))
        return 1;
    if (argc >= 2 && !strcmp(argv[1], "pairs"))
        status = bench_pairs(argc > 2 ? atof(argv[2]) : 3);
    else if (argc == 5 && !strcmp(argv[1], "flood"))
        status = bench_flood(atoi(argv[2]), strtoull(argv[3], NULL, 10), atof(argv[4]));
    if (status == 2)
        fprintf(stderr, "usage: event_bench pairs [SECONDS [PEER]] | flood THREADS RATE SECONDS\n");
    fflush(stdout);
    getchar(); /* until its figures have been read */
    return status;
}
