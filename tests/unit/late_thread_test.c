/*
 * A late loop's thread, in a child that waits for real: what is found out about it from here.
 */
#include "late_scene.h"
#include "skip_because.h"

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/loops/full_look.h"
#include "sampler/profile/loops/late_thread.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { SLEPT_NS = 30 * 1000 * 1000, RAN_NS = 30 * 1000 * 1000, LOOKS = 5 };

/* A scene that is looked at, and what came into the feed of it. */
struct late_scene {
    struct scene scene;
    struct late_thread late;
    int64_t began_ns;
    enum late_sight sight;
    uint32_t told[SCENE_THREADS + 2]; /* samples, by slot */
    uint32_t others;                  /* records that are no looks */
    uint8_t state;                    /* of the last one */
    uint64_t leaf;
};

static void begin_late(struct late_scene *late, void (*run)(struct scene_shared *shared))
{
    memset(late, 0, sizeof(*late));
    begin(&late->scene, run);
    for (int i = 0; i < SCENE_THREADS; i++)
        if (late->scene.shared->tids[i])
            fake_feed_thread(&late->scene.feed, late->scene.shared->tids[i], "other");
    late->began_ns = now_ns();
    assert_int_equal(late_thread_begin(&late->late, late->scene.subject, late->scene.slot,
                                       late->scene.child, late->began_ns),
                     0);
}

static void end_late(struct late_scene *late)
{
    late_thread_end(&late->late);
    end(&late->scene);
}

static void read_feed(struct late_scene *late)
{
    const union feed_any *record;

    while ((record = feed_reader_next(late->scene.reader, 0, INT64_MAX))) {
        bool look = record->head.type == FEED_RECORD_SAMPLE_OF &&
                    record->sample.kind == FEED_KIND_STALL && record->sample.depth &&
                    record->head.slot < SCENE_THREADS + 2;

        late->others += !look;
        if (!look)
            continue;
        late->told[record->head.slot]++;
        if (record->head.slot == late->scene.slot) {
            late->state = record->sample.state;
            late->leaf = record->sample.frames[0];
        }
    }
}

/* False: not in time. */
static bool look_until(struct late_scene *late, bool (*is_so)(const struct late_scene *late))
{
    int64_t end_ns = now_ns() + SCENE_DEADLINE_NS;

    do {
        late->sight = late_thread_look(&late->late, now_ns());
        read_feed(late);
        if (is_so(late))
            return true;
        rest_ms(2);
    } while (now_ns() < end_ns);
    return false;
}

static const struct stall_evidence *evidence_of(const struct late_scene *late)
{
    return late_thread_evidence(&late->late);
}

static enum stall_cause cause_of(const struct late_scene *late)
{
    return late_thread_cause(&late->late, now_ns() - late->began_ns, 0);
}

/* It was seen asleep more than once, and long enough to tell. */
static bool has_slept(const struct late_scene *late)
{
    return late->sight == LATE_SLEEPS && evidence_of(late)->sleeping_ns > SLEPT_NS &&
           late->told[late->scene.slot] >= LOOKS;
}

static void assert_slept(struct late_scene *late, enum stall_cause cause, const char *system_call)
{
    assert_true(look_until(late, has_slept));
    assert_int_equal(cause_of(late), cause);
    assert_string_equal(evidence_of(late)->system_call, system_call);
    assert_int_equal(late->others, 0);
    assert_true(evidence_of(late)->sleeping_ns > evidence_of(late)->running_ns);
}

/* ---- descriptors ---- */

static void read_a_pipe(struct scene_shared *shared)
{
    int ends[2];
    char byte;

    if (pipe(ends) < 0)
        abort();
    shared->descriptor = ends[0];
    shared->ready = 1;
    if (read(ends[0], &byte, 1) < 0)
        abort();
}

static void a_read_of_a_pipe_is_io_with_its_descriptor_and_path(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, read_a_pipe);
    assert_slept(&late, STALL_CAUSE_IO, "read");
    assert_int_equal(evidence_of(&late)->descriptor, late.scene.shared->descriptor);
    assert_non_null(strstr(evidence_of(&late)->path, "pipe:["));
    assert_int_equal(late.state, FEED_STATE_IO);
    end_late(&late);
}

static void poll_a_pipe(struct scene_shared *shared)
{
    struct pollfd polled = { .events = POLLIN };
    int ends[2];

    if (pipe(ends) < 0)
        abort();
    shared->descriptor = polled.fd = ends[0];
    shared->ready = 1;
    poll(&polled, 1, -1);
}

static void a_poll_of_one_descriptor_is_io_and_tells_which(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, poll_a_pipe);
    assert_true(look_until(&late, has_slept));
    assert_int_equal(cause_of(&late), STALL_CAUSE_IO);
    assert_non_null(strstr(evidence_of(&late)->system_call, "poll"));
    assert_int_equal(evidence_of(&late)->descriptor, late.scene.shared->descriptor);
    end_late(&late);
}

static void poll_nothing(struct scene_shared *shared)
{
    shared->ready = 1;
    poll(NULL, 0, -1);
}

static void a_poll_of_nothing_is_a_sleep(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, poll_nothing);
    assert_true(look_until(&late, has_slept));
    assert_int_equal(cause_of(&late), STALL_CAUSE_SLEEP);
    assert_int_equal(evidence_of(&late)->descriptor, -1);
    end_late(&late);
}

static char fifo_path[64];

static void open_a_fifo(struct scene_shared *shared)
{
    shared->ready = 1;
    if (open(fifo_path, O_RDONLY) < 0)
        abort();
}

static void an_open_that_waits_tells_the_path(void **state)
{
    struct late_scene late;

    (void)state;
    snprintf(fifo_path, sizeof(fifo_path), "/tmp/late_thread-%d.fifo", (int)getpid());
    assert_int_equal(mkfifo(fifo_path, 0600), 0);
    begin_late(&late, open_a_fifo);
    assert_true(look_until(&late, has_slept));
    assert_int_equal(cause_of(&late), STALL_CAUSE_IO);
    assert_string_equal(evidence_of(&late)->path, fifo_path);
    end_late(&late);
    unlink(fifo_path);
}

/* ---- time, children ---- */

static void sleep_long(struct scene_shared *shared)
{
    shared->ready = 1;
    for (;;)
        nanosleep(&(struct timespec){ 1000, 0 }, NULL);
}

static void a_sleep_is_a_sleep(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, sleep_long);
    assert_true(look_until(&late, has_slept));
    assert_int_equal(cause_of(&late), STALL_CAUSE_SLEEP);
    assert_non_null(strstr(evidence_of(&late)->system_call, "nanosleep"));
    end_late(&late);
}

static void wait_for_a_child(struct scene_shared *shared)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "grandchild");
        shared->ready = 1;
        sleep_for_good();
    }
    shared->descriptor = child;
    waitpid(child, NULL, 0);
}

static void a_wait_for_a_process_names_it(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, wait_for_a_child);
    assert_slept(&late, STALL_CAUSE_CHILD, "wait4");
    assert_int_equal(evidence_of(&late)->holder_tid, late.scene.shared->descriptor);
    assert_string_equal(evidence_of(&late)->holder, "grandchild");
    end_late(&late);
}

/* ---- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *hold_the_mutex(void *shared)
{
    prctl(PR_SET_NAME, "holder");
    pthread_mutex_lock(&mutex);
    tell_thread(shared, 0);
    sleep_for_good();
    return NULL;
}

static void wait_for_the_mutex(struct scene_shared *shared)
{
    start_thread(hold_the_mutex, shared, 0);
    shared->ready = 1;
    pthread_mutex_lock(&mutex);
}

static void be_priority_inheriting(pthread_mutexattr_t *attr)
{
    pthread_mutexattr_setprotocol(attr, PTHREAD_PRIO_INHERIT);
}

static void be_robust(pthread_mutexattr_t *attr)
{
    pthread_mutexattr_setrobust(attr, PTHREAD_MUTEX_ROBUST);
}

static void be_recursive(pthread_mutexattr_t *attr)
{
    pthread_mutexattr_settype(attr, PTHREAD_MUTEX_RECURSIVE);
}

static void wait_for_a_mutex_of(struct scene_shared *shared, void (*be)(pthread_mutexattr_t *attr))
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    be(&attr);
    pthread_mutex_init(&mutex, &attr);
    wait_for_the_mutex(shared);
}

static void wait_for_a_priority_inheriting_mutex(struct scene_shared *shared)
{
    wait_for_a_mutex_of(shared, be_priority_inheriting);
}

static void wait_for_a_robust_mutex(struct scene_shared *shared)
{
    wait_for_a_mutex_of(shared, be_robust);
}

static void wait_for_a_recursive_mutex(struct scene_shared *shared)
{
    wait_for_a_mutex_of(shared, be_recursive);
}

static void *write_for_good(void *shared)
{
    prctl(PR_SET_NAME, "holder");
    pthread_rwlock_wrlock(&rwlock);
    tell_thread(shared, 0);
    sleep_for_good();
    return NULL;
}

static void read_what_is_written(struct scene_shared *shared)
{
    start_thread(write_for_good, shared, 0);
    shared->ready = 1;
    pthread_rwlock_rdlock(&rwlock);
}

static void write_what_is_written(struct scene_shared *shared)
{
    start_thread(write_for_good, shared, 0);
    shared->ready = 1;
    pthread_rwlock_wrlock(&rwlock);
}

static void *be_joined(void *shared)
{
    prctl(PR_SET_NAME, "holder");
    tell_thread(shared, 0);
    sleep_for_good();
    return NULL;
}

static void join_a_thread(struct scene_shared *shared)
{
    pthread_t thread;

    pthread_create(&thread, NULL, be_joined, shared);
    while (!shared->tids[0])
        sched_yield();
    shared->ready = 1;
    pthread_join(thread, NULL);
}

/* Its stack is told, too: where it stands is why the lock is not free. */
static bool has_slept_and_holder_is_told(const struct late_scene *late)
{
    return has_slept(late) && late->told[late->scene.slot + 1];
}

static void assert_held(void (*run)(struct scene_shared *shared))
{
    struct late_scene late;

    begin_late(&late, run);
    assert_true(look_until(&late, has_slept_and_holder_is_told));
    assert_int_equal(cause_of(&late), STALL_CAUSE_LOCK);
    assert_string_equal(evidence_of(&late)->system_call, "futex");
    assert_int_equal(evidence_of(&late)->holder_tid, late.scene.shared->tids[0]);
    assert_string_equal(evidence_of(&late)->holder, "holder");
    assert_int_equal(late.state, FEED_STATE_LOCK);
    end_late(&late);
}

static void a_lock_names_who_holds_it(void **state)
{
    (void)state;
    assert_held(wait_for_the_mutex);
    assert_held(wait_for_a_recursive_mutex);
    assert_held(wait_for_a_robust_mutex);
    assert_held(wait_for_a_priority_inheriting_mutex);
}

static void so_do_a_lock_that_is_written_and_a_thread_that_is_joined(void **state)
{
    (void)state;
    assert_held(read_what_is_written);
    assert_held(write_what_is_written);
    assert_held(join_a_thread);
}

static void wait_for_a_word(struct scene_shared *shared)
{
    static int words[8] = { 2, 0, 1 << 22 }; /* no thread has that number */

    shared->ready = 1;
    syscall(SYS_futex, &words[0], 128 /* FUTEX_WAIT_PRIVATE */, 2, NULL);
}

static void a_futex_that_is_no_mutex_has_no_holder(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, wait_for_a_word);
    assert_slept(&late, STALL_CAUSE_LOCK, "futex");
    assert_int_equal(evidence_of(&late)->holder_tid, 0);
    assert_string_equal(evidence_of(&late)->holder, "");
    end_late(&late);
}

/* ---- pages ---- */

static void touch_a_page_that_nobody_brings(struct scene_shared *shared)
{
    struct uffdio_api api = { .api = UFFD_API };
    struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
    long page = sysconf(_SC_PAGESIZE);
    volatile char *at =
        mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    area.range = (struct uffdio_range){ (uint64_t)at, (uint64_t)page };
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &area) < 0) {
        shared->ready = 2;
        sleep_for_good();
    }
    shared->ready = 1;
    *at = 1;
}

static void a_wait_for_a_page_is_no_system_call(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, touch_a_page_that_nobody_brings);
    if (late.scene.shared->ready == 2) {
        end_late(&late);
        skip_because("the kernel refuses userfaultfd");
    }
    assert_slept(&late, STALL_CAUSE_FAULT, "");
    end_late(&late);
}

/* ---- threads that run, stop, go ---- */

static void spin(struct scene_shared *shared)
{
    shared->ready = 1;
    for (;;)
        __asm__ volatile("");
}

static bool has_run(const struct late_scene *late)
{
    return late->sight == LATE_RUNS && evidence_of(late)->running_ns > RAN_NS;
}

/* On a busy machine it may wait for a processor longer than it runs. */
static void a_spinning_thread_is_busy_and_is_not_told(void **state)
{
    struct late_scene late;
    bool starved;

    (void)state;
    begin_late(&late, spin);
    assert_true(look_until(&late, has_run));
    starved = evidence_of(&late)->runnable_ns >= evidence_of(&late)->running_ns;
    assert_int_equal(cause_of(&late), starved ? STALL_CAUSE_STARVED : STALL_CAUSE_BUSY);
    assert_int_equal(late.told[late.scene.slot], 0);
    assert_string_equal(evidence_of(&late)->system_call, "");
    end_late(&late);
}

static bool has_stopped(const struct late_scene *late)
{
    return late->sight == LATE_STOPPED;
}

static void a_stopped_thread_is_seen_to_be_so(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, spin);
    kill(late.scene.child, SIGSTOP);
    assert_true(look_until(&late, has_stopped));
    end_late(&late);
}

static bool is_traced(const struct late_scene *late)
{
    return late->sight == LATE_TRACED;
}

static void a_traced_thread_is_so_whether_it_runs_or_not(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, spin);
    if (ptrace(PTRACE_SEIZE, late.scene.child, NULL, NULL) < 0) {
        end_late(&late);
        skip_because("the kernel refuses ptrace");
    }
    assert_true(look_until(&late, is_traced));
    end_late(&late);
}

static bool is_gone(const struct late_scene *late)
{
    return late->sight == LATE_GONE;
}

static void a_thread_that_has_ended_is_gone(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, spin);
    kill(late.scene.child, SIGKILL);
    assert_true(look_until(&late, is_gone));
    end_late(&late);
}

static void a_thread_that_is_not_there_cannot_be_late(void **state)
{
    struct late_thread late;
    struct scene scene;

    (void)state;
    begin(&scene, spin);
    assert_int_equal(late_thread_begin(&late, scene.subject, scene.slot, scene.child + 1, now_ns()),
                     -ISOSCOPE_NOT_FOUND);
    assert_int_equal(late_thread_begin(&late, scene.subject, 0, 1 << 30, now_ns()),
                     -ISOSCOPE_NOT_FOUND);
    end(&scene);
}

/* It has evidence, and no sample. */
static bool has_slept_untold(const struct late_scene *late)
{
    return late->sight == LATE_SLEEPS && evidence_of(late)->sleeping_ns > SLEPT_NS;
}

static void a_thread_without_a_slot_has_evidence_and_no_samples(void **state)
{
    struct late_scene late;

    (void)state;
    memset(&late, 0, sizeof(late));
    begin(&late.scene, read_a_pipe);
    feed_writer_thread_end(&late.scene.feed.writer, late.scene.slot);
    late.began_ns = now_ns();
    assert_int_equal(
        late_thread_begin(&late.late, late.scene.subject, 0, late.scene.child, late.began_ns), 0);
    assert_true(look_until(&late, has_slept_untold));
    assert_int_equal(cause_of(&late), STALL_CAUSE_IO);
    assert_int_equal(late.told[late.scene.slot], 0);
    end_late(&late);
}

static bool has_slept_in_both(const struct late_scene *late)
{
    return has_slept(late) && late->others >= LOOKS;
}

/* Its thread is in wall mode's rounds as well, which another thread holds: both write ring 0. */
static void a_late_thread_may_be_in_wall_mode(void **state)
{
    struct late_scene late;

    (void)state;
    begin_late(&late, read_a_pipe);
    feed_reader_control(late.scene.reader, &(struct feed_settings){ .enabled = true,
                                                                    .period_us = 1000,
                                                                    .depth_max = 64,
                                                                    .mode = FEED_MODE_WALL,
                                                                    .wall_threads = "*" });
    assert_int_equal(rounds_start(late.scene.rounds), 0);
    rounds_look(late.scene.rounds);
    assert_true(look_until(&late, has_slept_in_both));
    assert_int_equal(cause_of(&late), STALL_CAUSE_IO);
    assert_int_equal(feed_reader_corrupt(late.scene.reader), 0);
    rounds_stop(late.scene.rounds);
    end_late(&late);
}

/* ---- all threads ---- */

static void *sleep_in_second(void *shared)
{
    tell_thread(shared, 0);
    sleep_for_good();
    return NULL;
}

static void *sleep_in_third(void *shared)
{
    tell_thread(shared, 1);
    sleep_for_good();
    return NULL;
}

static void sleep_with_others(struct scene_shared *shared)
{
    start_thread(sleep_in_second, shared, 0);
    start_thread(sleep_in_third, shared, 1);
    shared->ready = 1;
    sleep_for_good();
}

static void a_full_look_tells_each_thread_that_sleeps_once(void **state)
{
    struct late_scene late;
    int64_t end_ns;
    int told;

    (void)state;
    begin_late(&late, sleep_with_others);
    end_ns = now_ns() + SCENE_DEADLINE_NS;
    do {
        memset(late.told, 0, sizeof(late.told));
        told = late_all_threads(late.scene.subject, now_ns());
        read_feed(&late);
    } while (told < 3 && now_ns() < end_ns);
    assert_int_equal(told, 3);
    for (uint32_t slot = late.scene.slot; slot < late.scene.slot + 3; slot++)
        assert_int_equal(late.told[slot], 1);
    assert_int_equal(late.others, 0);
    end_late(&late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_a_pipe_is_io_with_its_descriptor_and_path),
        cmocka_unit_test(a_poll_of_one_descriptor_is_io_and_tells_which),
        cmocka_unit_test(a_poll_of_nothing_is_a_sleep),
        cmocka_unit_test(an_open_that_waits_tells_the_path),
        cmocka_unit_test(a_sleep_is_a_sleep),
        cmocka_unit_test(a_wait_for_a_process_names_it),
        cmocka_unit_test(a_lock_names_who_holds_it),
        cmocka_unit_test(so_do_a_lock_that_is_written_and_a_thread_that_is_joined),
        cmocka_unit_test(a_futex_that_is_no_mutex_has_no_holder),
        cmocka_unit_test(a_wait_for_a_page_is_no_system_call),
        cmocka_unit_test(a_spinning_thread_is_busy_and_is_not_told),
        cmocka_unit_test(a_stopped_thread_is_seen_to_be_so),
        cmocka_unit_test(a_traced_thread_is_so_whether_it_runs_or_not),
        cmocka_unit_test(a_thread_that_has_ended_is_gone),
        cmocka_unit_test(a_thread_that_is_not_there_cannot_be_late),
        cmocka_unit_test(a_thread_without_a_slot_has_evidence_and_no_samples),
        cmocka_unit_test(a_late_thread_may_be_in_wall_mode),
        cmocka_unit_test(a_full_look_tells_each_thread_that_sleeps_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
