/* waits_for_locks.c - waits of known lengths for known locks (test_locks.py).
 *
 *   waits_for_locks turns|short|kinds|own|forks|own_tool
 *
 * Prints what it measured itself: a line for each lock, "NAME COUNT NANOSECONDS"; of turns, the holders.
 */
#include "sampler/include/isoscope/locks.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACE static __attribute__((noinline))
/* Whoever calls last is gone from the stack. */
#define NOT_LAST __asm__ volatile("")

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

PLACE void nap_us(long us)
{
    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
    NOT_LAST;
}

struct measured {
    const char *name;
    int64_t count, ns;
};

static void print(const struct measured *measured)
{
    printf("%s %lld %lld\n", measured->name, (long long)measured->count, (long long)measured->ns);
}

/* ---- who waits is told to go on when the lock is taken, and seen to sleep before it is given back ---- */

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t *heap_lock;

static sem_t taken, tried;
static atomic_int waiter_tid;

/* The kernel says that the waiter sleeps. */
static bool waiter_sleeps(void)
{
    char path[64], text[256];
    FILE *file;
    bool sleeps = false;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&waiter_tid));
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file))
        sleeps = strstr(text, ") S ") != NULL;
    if (file)
        fclose(file);
    return sleeps;
}

struct turn {
    void (*take)(void), (*give)(void);
    long hold_us;
};

PLACE void take_queue(void)
{
    pthread_mutex_lock(&queue_lock);
    NOT_LAST;
}

static void give_queue(void)
{
    pthread_mutex_unlock(&queue_lock);
}

PLACE void take_heap(void)
{
    pthread_mutex_lock(heap_lock);
    NOT_LAST;
}

static void give_heap(void)
{
    pthread_mutex_unlock(heap_lock);
}

PLACE void read_table(void)
{
    pthread_rwlock_rdlock(&table_lock);
    NOT_LAST;
}

PLACE void write_table(void)
{
    pthread_rwlock_wrlock(&table_lock);
    NOT_LAST;
}

static void give_table(void)
{
    pthread_rwlock_unlock(&table_lock);
}

PLACE void hold(const struct turn *turn)
{
    turn->take();
    sem_post(&taken);
    sem_wait(&tried);
    while (!waiter_sleeps())
        sched_yield();
    nap_us(turn->hold_us);
    turn->give();
}

/* Once the other has it. */
static void wait_once(void (*take)(void), void (*give)(void), struct measured *measured)
{
    int64_t began;

    sem_wait(&taken);
    atomic_store(&waiter_tid, (int)syscall(SYS_gettid));
    sem_post(&tried);
    began = now_ns();
    take();
    measured->ns += now_ns() - began;
    measured->count++;
    give();
}

enum { TURNS = 50 };

/* ---- turns: two threads hold it in turn, and say who they are ---- */

static sem_t go[2], done;

static void *holder(void *given)
{
    static const struct turn turn = { take_queue, give_queue, 4000 };
    int number = (int)(intptr_t)given;

    pthread_setname_np(pthread_self(), number ? "holds-odd" : "holds-even");
    for (int i = number; i < TURNS; i += 2) {
        sem_wait(&go[number]);
        hold(&turn);
        sem_post(&done);
    }
    return NULL;
}

static void turns(void)
{
    struct measured measured = { "queue_lock", 0, 0 };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        sem_init(&go[i], 0, 0);
        pthread_create(&threads[i], NULL, holder, (void *)(intptr_t)i);
    }
    for (int i = 0; i < TURNS; i++) {
        sem_post(&go[i % 2]);
        wait_once(take_queue, give_queue, &measured);
        sem_wait(&done);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    print(&measured);
}

/* ---- kinds: each kind of lock, at a place of its own ---- */

static const struct turn kinds[] = {
    { take_queue, give_queue, 20000 },
    { take_heap, give_heap, 20000 },
    { write_table, give_table, 20000 },
    { write_table, give_table, 20000 },
};
static void (*const wants[])(void) = { take_queue, take_heap, read_table, write_table };
static struct measured kind_sums[] = {
    { "queue_lock", 0, 0 }, { "heap_lock", 0, 0 }, { "table_lock", 0, 0 }, { "table_lock", 0, 0 }
};
enum { KINDS = sizeof kinds / sizeof *kinds, EACH = 10 };

static void *holds_each(void *unused)
{
    pthread_setname_np(pthread_self(), "holds-each");
    for (int i = 0; i < KINDS * EACH; i++)
        hold(&kinds[i % KINDS]);
    return unused;
}

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static int word;

PLACE void wait_filled(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&queue_lock);
    if (pthread_cond_timedwait(&filled, &queue_lock, &until) != ETIMEDOUT)
        abort();
    pthread_mutex_unlock(&queue_lock);
}

PLACE void wait_slots(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    errno = 0;
    if (sem_timedwait(&slots, &until) != -1 || errno != ETIMEDOUT)
        abort();
}

PLACE void wait_word(void)
{
    const struct timespec patience = { 0, 50 * 1000 * 1000 };

    errno = 0;
    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0) != -1 ||
        errno != ETIMEDOUT)
        abort();
}

static void every_kind(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, holds_each, NULL);
    for (int i = 0; i < KINDS * EACH; i++)
        wait_once(wants[i % KINDS], kinds[i % KINDS].give, &kind_sums[i % KINDS]);
    pthread_join(thread, NULL);
    kind_sums[2].count += kind_sums[3].count;
    kind_sums[2].ns += kind_sums[3].ns;
    for (int i = 0; i < 3; i++)
        print(&kind_sums[i]);
    sem_init(&slots, 0, 0);
    wait_filled();
    wait_slots();
    wait_word();
}

/* ---- short: two threads at one lock, some 100,000 short waits ---- */

static struct measured short_sums[2] = { { "queue_lock", 0, 0 }, { "queue_lock", 0, 0 } };
static volatile uint64_t work;

static void *fights(void *given)
{
    struct measured *mine = given;
    const int64_t until = now_ns() + INT64_C(3000000000);

    while (now_ns() < until) {
        bool held = __atomic_load_n(&queue_lock.__data.__lock, __ATOMIC_RELAXED) != 0;
        int64_t began = now_ns();

        take_queue();
        if (held) {
            mine->ns += now_ns() - began;
            mine->count++;
        }
        for (int i = 0; i < 20000; i++)
            work++;
        give_queue();
        for (int i = 0; i < 5000; i++)
            __asm__ volatile("");
    }
    return NULL;
}

static void short_waits(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, fights, &short_sums[1]);
    fights(&short_sums[0]);
    pthread_join(thread, NULL);
    short_sums[0].count += short_sums[1].count;
    short_sums[0].ns += short_sums[1].ns;
    print(&short_sums[0]);
}

/* ---- own: what a thread has itself it does not wait for; and what else locks can do ---- */

static pthread_mutex_t of_type(int type, int robust)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutex_init(&mutex, &attributes);
    return mutex;
}

static pthread_mutex_t robust_lock;

static void *dies_with_it(void *unused)
{
    pthread_mutex_lock(&robust_lock);
    return unused;
}

static void give_back(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *is_cancelled(void *unused)
{
    pthread_mutex_lock(&queue_lock);
    pthread_cleanup_push(give_back, &queue_lock);
    sem_post(&taken);
    for (;;)
        pthread_cond_wait(&filled, &queue_lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void expect(int got, int right, const char *what)
{
    if (got != right) {
        printf("%s: %d, not %d\n", what, got, right);
        exit(1);
    }
}

static void own(void)
{
    pthread_mutex_t recursive = of_type(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    pthread_mutex_t checked = of_type(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    pthread_t thread;
    void *result;

    expect(pthread_mutex_lock(&recursive), 0, "recursive");
    for (int i = 0; i < 100000; i++) {
        expect(pthread_mutex_lock(&recursive), 0, "recursive again");
        pthread_mutex_unlock(&recursive);
    }
    expect(pthread_mutex_lock(&checked), 0, "checked");
    expect(pthread_mutex_lock(&checked), EDEADLK, "checked again");
    expect(pthread_mutex_trylock(&checked), EBUSY, "tried");
    robust_lock = of_type(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    pthread_create(&thread, NULL, dies_with_it, NULL);
    pthread_join(thread, NULL);
    expect(pthread_mutex_lock(&robust_lock), EOWNERDEAD, "robust");
    pthread_create(&thread, NULL, is_cancelled, NULL);
    sem_wait(&taken);
    pthread_mutex_lock(&queue_lock); /* it waits by now */
    pthread_mutex_unlock(&queue_lock);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED, 1, "cancelled");
    expect(pthread_mutex_trylock(&queue_lock), 0, "given back");
    printf("good\n");
}

/* ---- forks: the child waits, too ---- */

static void *holds_some(void *unused)
{
    static const struct turn turn = { take_queue, give_queue, 20000 };

    for (int i = 0; i < EACH; i++) {
        hold(&turn);
        sem_wait(&done);
    }
    return unused;
}

static void wait_some(void)
{
    struct measured measured = { "queue_lock", 0, 0 };
    pthread_t thread;

    pthread_create(&thread, NULL, holds_some, NULL);
    for (int i = 0; i < EACH; i++) {
        wait_once(take_queue, give_queue, &measured);
        sem_post(&done);
    }
    pthread_join(thread, NULL);
    print(&measured);
    fflush(stdout);
}

static void forks(void)
{
    int status;
    pid_t child;

    wait_some();
    child = fork();
    if (!child) {
        wait_some();
        _exit(0);
    }
    waitpid(child, &status, 0);
}

/* ---- own_tool: a lock of its own making, told by locks.h ---- */

static char spin_lock;

PLACE void take_spin_lock(int64_t until)
{
    uint64_t began = isoscope_wait_begin();

    while (now_ns() < until)
        nap_us(100);
    isoscope_wait_end(began, ISOSCOPE_WAIT_MUTEX, &spin_lock, 4711);
}

static void own_tool(void)
{
    struct measured measured = { "spin_lock", 0, 0 };

    for (int i = 0; i < 20; i++) {
        int64_t began = now_ns();

        take_spin_lock(began + 20000000);
        measured.ns += now_ns() - began;
        measured.count++;
    }
    print(&measured);
}

static void holds(void)
{
    char line[16];

    while (fgets(line, sizeof line, stdin))
        wait_some();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*run)(void);
    } modes[] = { { "turns", turns }, { "kinds", every_kind }, { "short", short_waits },
                  { "own", own },     { "forks", forks },      { "own_tool", own_tool },
                  { "holds", holds } };

    heap_lock = malloc(sizeof *heap_lock);
    pthread_mutex_init(heap_lock, NULL);
    sem_init(&taken, 0, 0);
    sem_init(&tried, 0, 0);
    sem_init(&done, 0, 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].word)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
