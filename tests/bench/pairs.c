/*
 * pairs pipe|eventfd|futex threads|forked|execd PROCESSORS TURNS - two that do nothing but wake
 * each other. Such a program switches all the time, and pays for whatever ticks at a switch.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct way {
    const char *name;
    void (*wake)(int side);
    void (*wait)(int side);
};

/* For each side: where it is woken. Descriptors are at the same numbers in an exec'd peer. */
static int reads[2], writes[2];
static _Atomic uint32_t *words;
static long turns;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void pipe_wake(int side)
{
    if (write(writes[side], "x", 1) != 1)
        fail("write");
}

static void pipe_wait(int side)
{
    char byte;

    if (read(reads[side], &byte, 1) != 1)
        fail("read");
}

static void eventfd_wake(int side)
{
    if (eventfd_write(writes[side], 1) != 0)
        fail("eventfd_write");
}

static void eventfd_wait(int side)
{
    eventfd_t value;

    if (eventfd_read(reads[side], &value) != 0)
        fail("eventfd_read");
}

static void futex_wake(int side)
{
    atomic_store(&words[side], 1);
    syscall(SYS_futex, &words[side], FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_wait(int side)
{
    while (!atomic_exchange(&words[side], 0))
        if (syscall(SYS_futex, &words[side], FUTEX_WAIT, 0, NULL, NULL, 0) != 0 &&
            errno != EAGAIN && errno != EINTR)
            fail("futex");
}

static const struct way ways[] = {
    { "pipe", pipe_wake, pipe_wait },
    { "eventfd", eventfd_wake, eventfd_wait },
    { "futex", futex_wake, futex_wait },
};
static const struct way *way;

static void *answer(void *unused)
{
    for (long turn = 0; turn < turns; turn++) {
        way->wait(1);
        way->wake(0);
    }
    return unused;
}

static void ask(void)
{
    for (long turn = 0; turn < turns; turn++) {
        way->wake(1);
        way->wait(0);
    }
}

static void open_way(int memory)
{
    for (int side = 0; side < 2; side++) {
        int ends[2];

        if (!strcmp(way->name, "eventfd")) {
            ends[0] = ends[1] = eventfd(0, 0);
        } else if (pipe(ends) != 0) {
            fail("pipe");
        }
        reads[side] = ends[0];
        writes[side] = ends[1];
    }
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (words == MAP_FAILED)
        fail("mmap");
}

static void stay_on_one(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail("sched_setaffinity");
}

/* The peer that was exec'd: the descriptors stand in its words. */
static int be_peer(char **argv)
{
    int memory = atoi(argv[5]);

    reads[1] = atoi(argv[6]);
    writes[0] = atoi(argv[7]);
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    answer(NULL);
    return 0;
}

static pid_t start_peer(char **argv, int memory)
{
    char numbers[3][16], peer[] = "peer";
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    if (!strcmp(argv[2], "forked")) {
        answer(NULL);
        _exit(0);
    }
    snprintf(numbers[0], sizeof numbers[0], "%d", memory);
    snprintf(numbers[1], sizeof numbers[1], "%d", reads[1]);
    snprintf(numbers[2], sizeof numbers[2], "%d", writes[0]);
    execv("/proc/self/exe", (char *[]){ argv[0], argv[1], peer, argv[3], argv[4], numbers[0],
                                        numbers[1], numbers[2], NULL });
    fail("execv");
    return -1;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pid_t pid = 0;
    int memory;

    if (argc < 5) {
        fprintf(stderr, "pairs pipe|eventfd|futex threads|forked|execd PROCESSORS TURNS\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (!strcmp(ways[i].name, argv[1]))
            way = &ways[i];
    turns = atol(argv[4]);
    if (!way)
        return 2;
    if (argc == 8)
        return be_peer(argv);
    if (atoi(argv[3]) == 1)
        stay_on_one();
    memory = memfd_create("pairs", 0);
    if (memory < 0 || ftruncate(memory, 4096) != 0)
        fail("memfd_create");
    open_way(memory);
    if (!strcmp(argv[2], "threads"))
        pthread_create(&thread, NULL, answer, NULL);
    else
        pid = start_peer(argv, memory);
    ask();
    if (pid)
        waitpid(pid, NULL, 0);
    else
        pthread_join(thread, NULL);
    return 0;
}
