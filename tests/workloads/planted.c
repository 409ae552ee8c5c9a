/*
 * planted WORD [SECONDS] - programs with one known trouble each, and one without (test_explain.py).
 *
 *     hot       four fifths of the work are in score_rows
 *     convoy    four threads do all of their work in update_table, which holds a mutex
 *     stalls    an epoll loop, of which some dispatches end up asleep in write_journal
 *     churn     build_words allocates and frees all the time
 *     io        read_records waits for a slow pipe
 *     faults    build_index maps memory, touches it, and unmaps it, all the time
 *     healthy   a server: an epoll loop, threads that wait for jobs, connections or commands, and work of six equal
 *               parts, in an order that changes: or a timer of the sampler's could meet the same one each time
 */
#include "burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PLACE __attribute__((noinline)) static

enum { MS = 1000000 };

static double end_s;

static bool goes_on(void)
{
    return cpu_seconds(CLOCK_MONOTONIC) < end_s;
}

static void rest(long ns)
{
    nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static pthread_t started(const char *name, void *(*run)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) != 0)
        exit(1);
    pthread_setname_np(thread, name);
    return thread;
}

/* ---- hot ---- */

PLACE void score_rows(struct burn *burn)
{
    for (int i = 0; i < 4; i++)
        burn_rounds(burn, burn_draw(burn));
}

PLACE void read_rows(struct burn *burn)
{
    burn_rounds(burn, burn_draw(burn));
}

PLACE void rank_table(struct burn *burn)
{
    read_rows(burn);
    score_rows(burn);
    __asm__ volatile(""); /* no tail call: the function stays on the stack */
}

static void hot(void)
{
    struct burn burn = { .state = 88172645463325252u };

    while (goes_on())
        rank_table(&burn);
}

/* ---- convoy ---- */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

PLACE void update_table(struct burn *burn)
{
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < 40; i++)
        burn_rounds(burn, burn_draw(burn));
    pthread_mutex_unlock(&table_lock);
    __asm__ volatile("");
}

static void *update(void *unused)
{
    struct burn burn = { .state = 88172645463325252u + (uintptr_t)&unused };

    while (goes_on())
        update_table(&burn);
    return NULL;
}

static void convoy(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = started("updates", update);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* ---- stalls ---- */

enum { TICK_MS = 5, WARM = 100, EVERY = 30, JOURNAL_MS = 400 };

PLACE void write_journal(void)
{
    nanosleep(&(struct timespec){ 0, JOURNAL_MS * (long)MS }, NULL);
    __asm__ volatile("");
}

PLACE void on_tick(long tick)
{
    if (tick > WARM && tick % EVERY == 0)
        write_journal();
    __asm__ volatile("");
}

static int every(int epoll, long ns)
{
    struct itimerspec times = { { 0, ns }, { 0, ns } };
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = timer };

    if (timer < 0 || timerfd_settime(timer, 0, &times, NULL) < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) < 0)
        exit(1);
    return timer;
}

/* Of a timer, in dispatches. */
static void loop(long ns, void (*dispatch)(long))
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), timer = every(epoll, ns);
    struct epoll_event event;
    uint64_t expired;

    for (long tick = 0; goes_on();) {
        if (epoll_wait(epoll, &event, 1, 100) != 1)
            continue;
        if (read(timer, &expired, sizeof(expired)) == sizeof(expired))
            dispatch(tick++);
    }
}

static void stalls(void)
{
    loop(TICK_MS * (long)MS, on_tick);
}

/* ---- churn ---- */

struct word {
    struct word *next;
    char text[];
};

PLACE struct word *build_words(struct burn *burn)
{
    struct word *words = NULL;

    for (int i = 0; i < 2000; i++) {
        size_t length = 16 + (size_t)(burn_random(burn) % 2048);
        struct word *word = malloc(sizeof(*word) + length);

        word->next = words;
        word->text[0] = 0;
        words = word;
    }
    return words;
}

PLACE void drop_words(struct word *words)
{
    while (words) {
        struct word *next = words->next;

        free(words);
        words = next;
    }
    __asm__ volatile("");
}

static void churn(void)
{
    struct burn burn = { .state = 88172645463325252u };

    while (goes_on())
        drop_words(build_words(&burn));
}

/* ---- io ---- */

static int slow_pipe[2];

static void *write_slowly(void *unused)
{
    while (goes_on()) {
        rest(8L * MS);
        if (write(slow_pipe[1], "record", 6) != 6)
            break;
    }
    close(slow_pipe[1]);
    return unused;
}

PLACE void read_records(struct burn *burn)
{
    char record[64];

    while (read(slow_pipe[0], record, sizeof(record)) > 0)
        for (int i = 0; i < 20; i++)
            burn_rounds(burn, burn_draw(burn));
    __asm__ volatile("");
}

static void io(void)
{
    struct burn burn = { .state = 88172645463325252u };
    pthread_t writer;

    if (pipe(slow_pipe) < 0)
        exit(1);
    writer = started("writes", write_slowly);
    read_records(&burn);
    pthread_join(writer, NULL);
}

/* ---- faults ---- */

enum { INDEX_PAGES = 512, PAGE_BYTES = 4096 };

PLACE void build_index(struct burn *burn)
{
    const size_t bytes = (size_t)INDEX_PAGES * PAGE_BYTES;
    char *index = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (index == MAP_FAILED)
        exit(1);
    madvise(index, bytes, MADV_NOHUGEPAGE);
    for (size_t page = 0; page < INDEX_PAGES; page++)
        index[page * PAGE_BYTES] = (char)burn_random(burn);
    munmap(index, bytes);
    __asm__ volatile("");
}

static void faults(void)
{
    struct burn burn = { .state = 88172645463325252u };

    while (goes_on())
        build_index(&burn);
}

/* ---- healthy ---- */

enum { WORKERS = 3, JOB_ROUNDS = 12 };

static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_come = PTHREAD_COND_INITIALIZER;
static int jobs;
static int commands[2], connections;

#define PARTS(X) X(parse) X(route) X(load) X(render) X(pack) X(reply)
#define PART(name)                                                                                 \
    PLACE void name##_request(struct burn *burn)                                                   \
    {                                                                                              \
        __asm__ volatile("# " #name); /* or they would be one function */                          \
        for (int i = 0; i < JOB_ROUNDS; i++)                                                       \
            burn_rounds(burn, burn_draw(burn));                                                    \
    }
PARTS(PART)

static void serve(struct burn *burn)
{
#define ENTRY(name) name##_request,
    static void (*const parts[])(struct burn *) = { PARTS(ENTRY) };
    enum { COUNT = sizeof(parts) / sizeof(parts[0]) };
    char *text = malloc(512);
    size_t first = (size_t)(burn_random(burn) % COUNT);

    for (size_t i = 0; i < COUNT; i++)
        parts[(first + i) % COUNT](burn);
    free(text);
}

static void *work(void *unused)
{
    struct burn burn = { .state = 88172645463325252u + (uintptr_t)&unused };

    for (;;) {
        pthread_mutex_lock(&jobs_lock);
        while (jobs == 0)
            pthread_cond_wait(&jobs_come, &jobs_lock);
        jobs--;
        pthread_mutex_unlock(&jobs_lock);
        serve(&burn);
    }
    return NULL;
}

static void *take_connections(void *unused)
{
    int connection = accept(connections, NULL, NULL);

    (void)connection; /* none comes */
    return unused;
}

static void *take_commands(void *unused)
{
    char command;

    while (read(commands[0], &command, 1) > 0)
        ;
    return unused;
}

static void on_request(long tick)
{
    (void)tick;
    pthread_mutex_lock(&jobs_lock);
    jobs++;
    pthread_cond_signal(&jobs_come);
    pthread_mutex_unlock(&jobs_lock);
}

/* Its other threads end with the program: to wait for them would be a dispatch that takes long. */
static void healthy(void)
{
    connections = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* An address of the kernel's choice. */
    if (bind(connections, &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)) < 0 ||
        listen(connections, 1) < 0 || pipe(commands) < 0)
        exit(1);
    for (int i = 0; i < WORKERS; i++)
        started("worker", work);
    started("accepts", take_connections);
    started("commands", take_commands);
    loop(4L * MS, on_request);
}

int main(int count, char **words)
{
    static const struct {
        const char *word;
        void (*run)(void);
    } ways[] = { { "hot", hot }, { "convoy", convoy }, { "stalls", stalls },  { "churn", churn },
                 { "io", io },   { "faults", faults }, { "healthy", healthy } };

    end_s = cpu_seconds(CLOCK_MONOTONIC) + (count > 2 ? atof(words[2]) : 2);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (count > 1 && !strcmp(words[1], ways[i].word)) {
            ways[i].run();
            return 0;
        }
    fprintf(stderr, "planted hot|convoy|stalls|churn|io|faults|healthy [SECONDS]\n");
    return 2;
}
