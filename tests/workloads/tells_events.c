/*
 * Tells events whose number and nesting are known: ARGV[1] rounds (100 when not given). A round is
 * a "round" of the thread "teller" with two "part"s in it, one "crossing" that was told at once,
 * a counter, an async "request", a flow to the thread "taker", and a frame. "whole" stands open
 * until the end. One end has no begin, and one name is not UTF-8.
 */
#include "burn.h"

#include <isoscope/isoscope.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_uint given; /* the flow's id that "taker" may end */
static unsigned rounds = 100;
static struct burn burn = { 1 };

enum { PART_ROUNDS = 100000 }; /* some 200 microseconds */

static void *take(void *unused)
{
    pthread_setname_np(pthread_self(), "taker");
    for (unsigned taken = 0; taken < rounds;) {
        if (atomic_load(&given) == taken) {
            usleep(100);
            continue;
        }
        taken++;
        ISOSCOPE_SCOPE("net", "take");
        ISOSCOPE_FLOW_END("net", "job", taken);
    }
    return unused;
}

static void one_round(unsigned number)
{
    uint64_t start_ns = isoscope_event_now_ns();

    ISOSCOPE_BEGIN_WITH("Dart", "round", ISOSCOPE_UINT("number", number));
    for (int part = 0; part < 2; part++) {
        ISOSCOPE_SCOPE("Dart", "part");
        burn_rounds(&burn, PART_ROUNDS);
    }
    ISOSCOPE_COUNTER("GC", "heap", ISOSCOPE_UINT("used", number * 100),
                     ISOSCOPE_DOUBLE("share", 0.5));
    ISOSCOPE_ASYNC_BEGIN("net", "request", number);
    ISOSCOPE_FLOW_BEGIN("net", "job", number);
    atomic_store(&given, number);
    ISOSCOPE_ASYNC_END("net", "request", number);
    ISOSCOPE_END("Dart");
    ISOSCOPE_COMPLETE("io", "crossing", start_ns + 500000, isoscope_event_now_ns() - start_ns);
    ISOSCOPE_INSTANT_WITH("Dart", "done", ISOSCOPE_TEXT("words", "a \"b\" \xff"));
    isoscope_event_frame(&(struct isoscope_frame){ .struct_size = sizeof(struct isoscope_frame),
                                                   .has_parts = 1,
                                                   .number = number,
                                                   .start_ns = start_ns,
                                                   .elapsed_ns = isoscope_event_now_ns() - start_ns,
                                                   .build_ns = 2000000,
                                                   .raster_ns = 1000,
                                                   .vsync_overhead_ns = 5000 });
}

int main(int argc, char **argv)
{
    pthread_t taker;

    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    pthread_setname_np(pthread_self(), "teller");
    pthread_create(&taker, NULL, take, NULL);
    ISOSCOPE_END("VM"); /* nothing has begun */
    ISOSCOPE_BEGIN("Embedder", "whole");
    for (unsigned number = 1; number <= rounds; number++)
        one_round(number);
    pthread_join(taker, NULL);
    ISOSCOPE_INSTANT("Dart", "not \xff UTF-8");
    return 0;
}
