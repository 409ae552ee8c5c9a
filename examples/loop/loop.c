/*
 * loop.c - a loop that waits on a condition variable, and tells where each of its turns begins and ends.
 *
 *     isoscope stalls -- build/examples/loop
 *     isoscope run --fail-on-stall 250ms -- build/examples/loop
 *
 * A writer thread takes pages from a queue: it parses, compresses and stores each. Every SLOW_EACH-th page is a
 * picture, and compressing it takes 400 ms (or as many as the first argument says): the queue waits, and so would
 * whoever it serves. isoscope knows loops that wait in epoll_wait, poll or select by themselves; this one it is told of,
 * by three calls. Without isoscope it runs alike.
 */
#include <isoscope/isoscope.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAGES = 60, SLOW_EACH = 20, PARSE_MS = 1, COMPRESS_MS = 2, STORE_MS = 1, SLOW_MS = 400 };

struct page {
    struct page *next;
    int number;
    unsigned long sum;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct page *first, **last;
    bool over; /* no more will come */
};

static struct queue queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL,
                              &queue.first, false };
static long slow_ms = SLOW_MS;

static void put(struct page *page)
{
    pthread_mutex_lock(&queue.lock);
    *queue.last = page;
    queue.last = &page->next;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.over = true;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

/* NULL: it is over. */
static struct page *take(void)
{
    pthread_mutex_lock(&queue.lock);
    while (!queue.first && !queue.over)
        pthread_cond_wait(&queue.changed, &queue.lock);

    struct page *page = queue.first;
    if (page && !(queue.first = page->next))
        queue.last = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return page;
}

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Each function below works by itself, so that it is on top of the stack. */
#define WORK(page, ms)                                                                             \
    for (long end = now_ms() + (ms); now_ms() < end;)                                              \
        for (int i = 0; i < 20000; i++)                                                            \
            (page)->sum = (page)->sum * 31 + (unsigned)i;

__attribute__((noinline)) static void parse(struct page *page)
{
    WORK(page, PARSE_MS)
}

__attribute__((noinline)) static void compress(struct page *page, long ms)
{
    WORK(page, ms)
}

__attribute__((noinline)) static void store(struct page *page)
{
    WORK(page, STORE_MS)
}

__attribute__((noinline)) static void write_page(struct page *page)
{
    bool is_picture = page->number % SLOW_EACH == SLOW_EACH - 1;

    parse(page);
    compress(page, is_picture ? slow_ms : COMPRESS_MS);
    store(page);
}

static void *write_pages(void *unused)
{
    unsigned long sum = 0;

    (void)unused;
    pthread_setname_np(pthread_self(), "writer");

    struct isoscope_loop *loop = isoscope_loop_register("pages", NULL);
    for (struct page *page; (page = take());) { /* waiting is no part of a turn */
        isoscope_loop_begin(loop);
        write_page(page);
        sum += page->sum;
        free(page);
        isoscope_loop_end(loop);
    }
    isoscope_loop_unregister(loop);
    return (void *)sum;
}

int main(int argc, char **argv)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    pthread_t writer;
    void *sum;

    if (argc > 1)
        slow_ms = atol(argv[1]);
    if (pthread_create(&writer, NULL, write_pages, NULL) != 0)
        return 1;
    for (int number = 0; number < PAGES; number++) {
        struct page *page = calloc(1, sizeof(*page));

        if (!page)
            return 1;
        page->number = number;
        put(page);
        nanosleep(&pause, NULL);
    }
    close_queue();
    pthread_join(writer, &sum);
    printf("%d pages, %lx\n", PAGES, (unsigned long)sum);
    return 0;
}
