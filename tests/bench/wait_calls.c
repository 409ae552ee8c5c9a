/*
 * wait_calls [SLICES] - what marks cost: ns a call of epoll_wait on a ready descriptor, as a program calls it (which
 * a preloaded library may wrap) and as libc has it, in slices in turn; and of isoscope_loop_begin with its end.
 * Prints medians as JSON. "nothing" is an empty loop, "again" libc's a second time: the noise.
 */
#include <isoscope/optional.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

enum { CALLS = 2000, WAYS = 5, SLICES_MAX = 100000 };
typedef int wait_call(int epoll, struct epoll_event *events, int count, int timeout);

static int epoll;
static struct isoscope_loop *loop;
static double *slices[WAYS];

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* One place for each: a loop is known by it. */
#define WAITS(name)                                                                                \
    __attribute__((noinline)) static double name(wait_call *call)                                  \
    {                                                                                              \
        struct epoll_event event;                                                                  \
        double begin = now_ns();                                                                   \
                                                                                                   \
        for (int i = 0; i < CALLS; i++)                                                            \
            call(epoll, &event, 1, -1);                                                            \
        return (now_ns() - begin) / CALLS;                                                         \
    }

WAITS(as_called)
WAITS(as_libc)

static double marks(void)
{
    double begin = now_ns();

    for (int i = 0; i < CALLS; i++) {
        isoscope_loop_begin(loop);
        isoscope_loop_end(loop);
    }
    return (now_ns() - begin) / CALLS;
}

static double nothing(void)
{
    double begin = now_ns();

    for (int i = 0; i < CALLS; i++)
        __asm__ volatile("");
    return (now_ns() - begin) / CALLS;
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

int main(int argc, char **argv)
{
    static const char *const names[WAYS] = { "wrapped", "libc", "again", "marks", "nothing" };
    int count = argc > 1 ? atoi(argv[1]) : 500;
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    wait_call *real = NULL;
    struct epoll_event event = { .events = EPOLLIN };

    if (!libc || count < 1 || count > SLICES_MAX)
        return 1;
    *(void **)&real = dlsym(libc, "epoll_wait");
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(1, 0), &event);
    for (int i = 0; i < WAYS; i++)
        slices[i] = calloc((size_t)count, sizeof(double));
    as_called(epoll_wait); /* it is known by now */
    for (int i = 0; i < count; i++) {
        slices[0][i] = as_called(epoll_wait);
        slices[1][i] = as_libc(real);
        slices[2][i] = as_libc(real);
    }
    loop = isoscope_loop_register("marks", NULL);
    for (int i = 0; i < count; i++) {
        slices[3][i] = marks();
        slices[4][i] = nothing();
    }
    for (int i = 0; i < WAYS; i++) {
        qsort(slices[i], (size_t)count, sizeof(double), ascending);
        printf("%s\"%s\": %.2f", i ? ", " : "{", names[i], slices[i][count / 2]);
    }
    puts("}");
    return 0;
}
