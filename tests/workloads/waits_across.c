/*
 * waits_across.c - waits of known lengths for locks that are more than a plain mutex (test_locks_across.py).
 *
 *   waits_across pi|robust|protect      held by another thread
 *   waits_across shared|shared_pi|shared_readers|shared_futex      by another process
 *
 * Prints what it measured itself: "waited COUNT NANOSECONDS", and "holder TID". 77: not as this user.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACE static __attribute__((noinline))
/* Whoever calls last is gone from the stack. */
#define NOT_LAST __asm__ volatile("")

enum { TURNS = 50, HOLD_NS = 4000000, FREE = 100000, STATUS_NOT_HERE = 77 };

/* Both processes have it at the same address. */
static struct {
    pthread_mutex_t mutex;
    pthread_rwlock_t readers;
    int word;
    sem_t taken, tried, done;
    atomic_int waiter_tid, holder_tid;
} * both;

struct way {
    const char *word;
    int protocol;
    bool robust, shared;
    void (*take)(void), (*give)(void), (*want)(void), (*leave)(void);
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void must(int error)
{
    if (error) {
        fprintf(stderr, "error %d\n", error);
        _exit(1);
    }
}

PLACE void take_mutex(void)
{
    must(pthread_mutex_lock(&both->mutex));
    NOT_LAST;
}

static void give_mutex(void)
{
    must(pthread_mutex_unlock(&both->mutex));
}

PLACE void write_readers(void)
{
    must(pthread_rwlock_wrlock(&both->readers));
    NOT_LAST;
}

PLACE void read_readers(void)
{
    must(pthread_rwlock_rdlock(&both->readers));
    NOT_LAST;
}

static void give_readers(void)
{
    must(pthread_rwlock_unlock(&both->readers));
}

static void set_word(void)
{
    __atomic_store_n(&both->word, 1, __ATOMIC_SEQ_CST);
}

static void wake_word(void)
{
    __atomic_store_n(&both->word, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &both->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

PLACE void wait_word(void)
{
    while (__atomic_load_n(&both->word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &both->word, FUTEX_WAIT, 1, NULL, NULL, 0);
    NOT_LAST;
}

static void nothing(void)
{
}

static const struct way ways[] = {
    { "pi", PTHREAD_PRIO_INHERIT, false, false, take_mutex, give_mutex, take_mutex, give_mutex },
    { "robust", PTHREAD_PRIO_NONE, true, false, take_mutex, give_mutex, take_mutex, give_mutex },
    { "protect", PTHREAD_PRIO_PROTECT, false, false, take_mutex, give_mutex, take_mutex,
      give_mutex },
    { "shared", PTHREAD_PRIO_NONE, false, true, take_mutex, give_mutex, take_mutex, give_mutex },
    { "shared_pi", PTHREAD_PRIO_INHERIT, false, true, take_mutex, give_mutex, take_mutex,
      give_mutex },
    { "shared_readers", PTHREAD_PRIO_NONE, false, true, write_readers, give_readers, read_readers,
      give_readers },
    { "shared_futex", PTHREAD_PRIO_NONE, false, true, set_word, wake_word, wait_word, nothing },
};
static const struct way *way;

/* The kernel says that the waiter sleeps. */
static bool waiter_sleeps(void)
{
    char path[64], text[256];
    FILE *file;
    bool sleeps = false;

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)atomic_load(&both->waiter_tid),
             (int)atomic_load(&both->waiter_tid));
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file))
        sleeps = strstr(text, ") S ") != NULL;
    if (file)
        fclose(file);
    return sleeps;
}

PLACE void *holds(void *unused)
{
    atomic_store(&both->holder_tid, (int)syscall(SYS_gettid));
    for (int i = 0; i < TURNS; i++) {
        way->take();
        sem_post(&both->taken);
        sem_wait(&both->tried);
        while (!waiter_sleeps())
            usleep(100);
        nanosleep(&(struct timespec){ 0, HOLD_NS }, NULL);
        way->give();
        sem_wait(&both->done);
    }
    return unused;
}

static void waits(void)
{
    int64_t waited_ns = 0, began;

    atomic_store(&both->waiter_tid, (int)syscall(SYS_gettid));
    for (int i = 0; i < TURNS; i++) {
        sem_wait(&both->taken);
        sem_post(&both->tried);
        began = now_ns();
        way->want();
        waited_ns += now_ns() - began;
        way->leave();
        sem_post(&both->done);
    }
    printf("waited %d %lld\nholder %d\n", TURNS, (long long)waited_ns,
           (int)atomic_load(&both->holder_tid));
    fflush(stdout);
}

/* Nobody waits for one that is free, whatever its word has in it. */
static void takes_what_is_free(void)
{
    for (int i = 0; i < FREE; i++) {
        must(pthread_mutex_lock(&both->mutex));
        must(pthread_mutex_unlock(&both->mutex));
    }
}

static void make(void)
{
    pthread_mutexattr_t attributes;
    pthread_rwlockattr_t of_readers;
    int shared = way->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;

    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (both == MAP_FAILED)
        exit(1);
    must(pthread_mutexattr_init(&attributes));
    must(pthread_mutexattr_setprotocol(&attributes, way->protocol));
    if (way->protocol == PTHREAD_PRIO_PROTECT)
        must(pthread_mutexattr_setprioceiling(&attributes, 2));
    must(pthread_mutexattr_setpshared(&attributes, shared));
    if (way->robust)
        must(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
    must(pthread_mutex_init(&both->mutex, &attributes));
    must(pthread_rwlockattr_init(&of_readers));
    must(pthread_rwlockattr_setpshared(&of_readers, shared));
    must(pthread_rwlock_init(&both->readers, &of_readers));
    must(sem_init(&both->taken, 1, 0) | sem_init(&both->tried, 1, 0) | sem_init(&both->done, 1, 0));
}

static void against_a_thread(void)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, holds, NULL));
    waits();
    must(pthread_join(thread, NULL));
}

static void against_a_process(void)
{
    int status;
    pid_t child = fork();

    if (!child) {
        holds(NULL);
        _exit(0);
    }
    waits();
    if (waitpid(child, &status, 0) != child || status)
        exit(1);
}

int main(int argc, char **argv)
{
    const struct sched_param first = { .sched_priority = 1 };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].word))
            way = &ways[i];
    if (!way)
        return 2;
    if (way->protocol == PTHREAD_PRIO_PROTECT && sched_setscheduler(0, SCHED_FIFO, &first))
        return STATUS_NOT_HERE;
    make();
    takes_what_is_free();
    if (way->shared)
        against_a_process();
    else
        against_a_thread();
    return 0;
}
