/*
 * thread_groups [CPU_SECONDS] - 200 threads whose names make three groups, each of which burns
 * CPU_SECONDS a thread in a function of its own: 100 "worker-0", "worker-1", ... in worker_spin,
 * 60 "pool #0", "pool #1", ... in pool_spin, 40 of one name, which is also HTML, in twin_spin. The
 * main thread only waits.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 16, WORKERS = 100, POOL = 60, TWINS = 40, THREADS = WORKERS + POOL + TWINS };

static double seconds_each = 0.03;

void worker_spin(void);
void pool_spin(void);
void twin_spin(void);

__attribute__((always_inline)) static inline void spin(struct burn burn)
{
    while (burn.state && cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds_each) {
        for (int i = 0; i < 100; i++)
            burn_rounds(&burn, burn_draw(&burn));
    }
}

/* Other numbers in each: functions that are the same would be made one. */
__attribute__((noinline)) void worker_spin(void)
{
    spin((struct burn){ .state = 88172645463325252u });
}

__attribute__((noinline)) void pool_spin(void)
{
    spin((struct burn){ .state = 3333333333333u });
}

__attribute__((noinline)) void twin_spin(void)
{
    spin((struct burn){ .state = 7777777777777u });
}

struct task {
    char name[NAME_SIZE];
    void (*spin)(void);
};

static struct task task_of(int number)
{
    struct task task = { .name = "<img onerror=x>", .spin = twin_spin };

    if (number < WORKERS) {
        task.spin = worker_spin;
        snprintf(task.name, sizeof(task.name), "worker-%d", number);
    } else if (number < WORKERS + POOL) {
        task.spin = pool_spin;
        snprintf(task.name, sizeof(task.name), "pool #%d", number - WORKERS);
    }
    return task;
}

static void *thread_main(void *argument)
{
    struct task *task = argument;

    pthread_setname_np(pthread_self(), task->name);
    task->spin();
    return argument;
}

int main(int argc, char **argv)
{
    static struct task tasks[THREADS];
    static pthread_t threads[THREADS];

    if (argc > 1)
        seconds_each = atof(argv[1]);
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = task_of(i);
        if (pthread_create(&threads[i], NULL, thread_main, &tasks[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("joined %d threads\n", THREADS);
    return 0;
}
