/*
 * late_scene.h - a child of the test that has nothing of the sampler in it, and its feed, which the test writes.
 *
 *     begin(&scene, sleep_in_a_pipe);      the child runs it; scene.slot is of its first thread
 *     ... late_thread_look, unwatched_look with scene.subject ...
 *     end(&scene);
 */
#ifndef LATE_SCENE_H
#define LATE_SCENE_H

#include "fake_feed.h"

#include "sampler/feed/feed_reader.h"
#include "sampler/profile/wall/rounds.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define SCENE_DEADLINE_NS (INT64_C(20) * 1000 * 1000 * 1000)
enum { SCENE_THREADS = 4 };

/* What child and test both see. */
struct scene_shared {
    _Atomic int ready;               /* the child is about to do what it is for */
    _Atomic int tids[SCENE_THREADS]; /* of threads that it told of */
    _Atomic int descriptor;
};

struct scene {
    pid_t child;
    struct scene_shared *shared;
    struct fake_feed feed;
    struct feed_reader *reader;
    struct rounds *rounds;
    struct subject *subject;
    uint32_t slot;
};

/* What stands in the child's memory, as in that of a program with a feed. */
static struct feed_head head_in_child;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void rest_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void put_head_into_child(struct scene *scene)
{
    struct feed_head *head = &scene->feed.writer.header->head;
    struct iovec from = { head, sizeof(*head) }, to = { &head_in_child, sizeof(head_in_child) };

    head->mapped_at = (uint64_t)&head_in_child;
    if (process_vm_writev(scene->child, &from, 1, &to, 1, 0) < 0)
        abort();
}

static void begin(struct scene *scene, void (*run)(struct scene_shared *shared))
{
    int64_t end_ns = now_ns() + SCENE_DEADLINE_NS;

    memset(scene, 0, sizeof(*scene));
    scene->shared = mmap(NULL, sizeof(*scene->shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    scene->child = fork();
    if (scene->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(scene->shared);
        _exit(0);
    }
    while (!scene->shared->ready && now_ns() < end_ns)
        rest_ms(1);
    fake_feed_open(&scene->feed, scene->child);
    put_head_into_child(scene);
    scene->slot = fake_feed_thread(&scene->feed, scene->child, "loop");
    if (feed_reader_open(&scene->reader, fake_feed_memfd(&scene->feed)) < 0 ||
        rounds_new(&scene->rounds, NULL, NULL) < 0)
        abort();
    feed_reader_control(scene->reader, &(struct feed_settings){ .enabled = true,
                                                                .period_us = 1000,
                                                                .depth_max = 64,
                                                                .mode = FEED_MODE_CPU });
    scene->subject = rounds_enter(scene->rounds, scene->reader, scene->child);
}

static void end(struct scene *scene)
{
    rounds_leave(scene->subject);
    rounds_free(scene->rounds);
    feed_reader_free(scene->reader);
    fake_feed_close(&scene->feed);
    kill(scene->child, SIGKILL);
    waitpid(scene->child, NULL, 0);
    munmap(scene->shared, sizeof(*scene->shared));
}

/* ---- in the child ---- */

static inline void tell_thread(struct scene_shared *shared, int place)
{
    shared->tids[place] = (int)syscall(SYS_gettid);
}

static inline void start_thread(void *(*run)(void *shared), struct scene_shared *shared, int place)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, shared))
        abort();
    while (!shared->tids[place])
        sched_yield();
}

static inline void sleep_for_good(void)
{
    for (;;)
        pause();
}

#endif
