/*
 * tag_bench.c - what a tag costs the program: ns a push and pop, and nothing where there is none.
 *
 *     build/tests/bench/tag_bench                      without a sampler
 *     isoscope run -- build/tests/bench/tag_bench      with one
 *
 * Both ways in turn, in slices of about a millisecond; the median of hundreds of pairs, and base
 * against base beside it, which is the noise.
 */
#include <isoscope/isoscope.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAIRS = 501, TAGS = 100000, UNTAGGED = 1000000 };

/* A step that the compiler can neither drop nor fold. */
#define STEP(state) __asm__ volatile("" : "+r"(state))

static void loop(uint64_t rounds)
{
    uint64_t state = 1;

    for (uint64_t i = 0; i < rounds; i++)
        STEP(state);
}

static void tags_loop(void)
{
    uint64_t state = 1;

    for (uint64_t i = 0; i < TAGS; i++) {
        isoscope_tag_push("in the loop");
        STEP(state);
        isoscope_tag_pop();
    }
}

static void plain_loop(void)
{
    loop(TAGS);
}

static void untagged(void)
{
    loop(UNTAGGED);
}

/* The same loop inside of a tag. */
static void inside_of_a_tag(void)
{
    isoscope_tag_push("around the loop");
    loop(UNTAGGED);
    isoscope_tag_pop();
}

static double ns_of(void (*run)(void))
{
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    run();
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double values[PAIRS])
{
    qsort(values, PAIRS, sizeof values[0], by_value);
    return values[PAIRS / 2];
}

static void compare(const char *name, void (*base)(void), void (*changed)(void), double *extra_ns)
{
    static double noise[PAIRS], ratio[PAIRS], extra[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        double first = ns_of(base), second = ns_of(base), other = ns_of(changed);

        noise[i] = second / first;
        ratio[i] = other / second;
        extra[i] = other - second;
    }
    *extra_ns = median(extra);
    printf("%-28s base/base %.3f  changed/base %.3f\n", name, median(noise), median(ratio));
}

int main(void)
{
    double extra_ns;

    compare("loop: untagged/tag around", untagged, inside_of_a_tag, &extra_ns);
    compare("loop: untagged/tag a round", plain_loop, tags_loop, &extra_ns);
    printf("push and pop                 %.2f ns\n", extra_ns / TAGS);
    printf("samples of this thread       %lu\n", (unsigned long)isoscope_sample_count());
    return extra_ns / TAGS <= 10 ? 0 : 1;
}
