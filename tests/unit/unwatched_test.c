/*
 * Threads of a child that wait for descriptors: by system calls of their own, and through libc.
 */
#include "late_scene.h"

#include "sampler/profile/loops/unwatched.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>

#include <cmocka.h>

static const int64_t SECOND_NS = 1000 * 1000 * 1000;
enum { ROOM = 8 };

/* As a program does that has no libc: the instruction is here. */
static long own_call(long number, long first, long second, long third, long fourth)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = fourth;
    register long r8 __asm__("r8") = 0;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    register long x3 __asm__("x3") = fourth;
    register long x4 __asm__("x4") = 0;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

static void wait_by_itself(struct scene_shared *shared)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);

    prctl(PR_SET_NAME, "by itself");
    shared->ready = 1;
    for (;;)
        own_call(SYS_epoll_pwait, epoll, (long)&event, 1, -1);
}

static void wait_through_libc(struct scene_shared *shared)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);

    shared->ready = 1;
    for (;;)
        epoll_wait(epoll, &event, 1, -1);
}

static void read_by_itself(struct scene_shared *shared)
{
    int ends[2];
    char byte;

    if (pipe(ends) < 0)
        abort();
    shared->ready = 1;
    for (;;)
        own_call(SYS_read, ends[0], (long)&byte, 1, 0);
}

static void enter_uring(struct scene_shared *shared)
{
    uint32_t params[30] = { 0 };
    int ring = (int)syscall(SYS_io_uring_setup, 4, params);

    shared->ready = ring < 0 ? 2 : 1;
    if (ring < 0)
        sleep_for_good();
    for (;;)
        syscall(SYS_io_uring_enter, ring, 0, 1, 1 /* IORING_ENTER_GETEVENTS */, NULL, 0);
}

/* A program, and what is known of its threads. */
struct unwatched_scene {
    struct scene scene;
    struct unwatched *unwatched;
    int64_t now_ns;
};

static bool sleeps(pid_t pid)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && !fgets(text, sizeof(text), file))
        text[0] = 0;
    if (file)
        fclose(file);
    return strstr(text, ") S ");
}

static void begin_unwatched(struct unwatched_scene *it, void (*run)(struct scene_shared *shared))
{
    int64_t end_ns = now_ns() + SCENE_DEADLINE_NS;

    begin(&it->scene, run);
    while (!sleeps(it->scene.child) && now_ns() < end_ns)
        rest_ms(1);
    assert_int_equal(unwatched_new(&it->unwatched, it->scene.subject, 7), 0);
    it->now_ns = now_ns();
    assert_false(unwatched_look(it->unwatched, it->now_ns)); /* it is new */
    it->now_ns += SECOND_NS;
}

static void end_unwatched(struct unwatched_scene *it)
{
    unwatched_free(it->unwatched);
    end(&it->scene);
}

/* So many looks, each when it is due. Returns how many of them changed something. */
static int look(struct unwatched_scene *it, int looks)
{
    int changes = 0;

    for (int i = 0; i < looks; i++) {
        changes += unwatched_look(it->unwatched, it->now_ns);
        it->now_ns += 10 * SECOND_NS;
    }
    return changes;
}

static void a_thread_that_waits_by_system_calls_of_its_own_is_told_after_some_looks(void **state)
{
    struct unwatched_thread threads[ROOM];
    struct unwatched_scene it;

    (void)state;
    begin_unwatched(&it, wait_by_itself);
    assert_int_equal(look(&it, UNWATCHED_LOOKS - 1), 0);
    assert_int_equal(unwatched_list(it.unwatched, threads, ROOM), 0);
    assert_int_equal(look(&it, 1), 1);
    assert_int_equal(unwatched_list(it.unwatched, threads, ROOM), 1);
    assert_int_equal(threads[0].process_id, 7);
    assert_int_equal(threads[0].tid, it.scene.child);
    assert_string_equal(threads[0].name, "by itself");
    assert_string_equal(threads[0].system_call, "epoll_pwait");
    assert_int_equal(look(&it, 2), 0);
    assert_int_equal(unwatched_list(it.unwatched, threads, 0), 1);
    end_unwatched(&it);
}

static void one_that_waits_through_libc_or_for_one_descriptor_is_not(void **state)
{
    struct unwatched_scene it;

    (void)state;
    begin_unwatched(&it, wait_through_libc);
    assert_int_equal(look(&it, UNWATCHED_LOOKS + 1), 0);
    assert_int_equal(unwatched_list(it.unwatched, NULL, 0), 0);
    end_unwatched(&it);
    begin_unwatched(&it, read_by_itself);
    assert_int_equal(look(&it, UNWATCHED_LOOKS + 1), 0);
    end_unwatched(&it);
}

static void io_uring_without_liburing_is_told(void **state)
{
    struct unwatched_thread threads[ROOM];
    struct unwatched_scene it;

    (void)state;
    begin_unwatched(&it, enter_uring);
    if (it.scene.shared->ready == 1) { /* else the kernel refuses it */
        look(&it, UNWATCHED_LOOKS);
        assert_int_equal(unwatched_list(it.unwatched, threads, ROOM), 1);
        assert_string_equal(threads[0].system_call, "io_uring_enter");
    }
    end_unwatched(&it);
}

static void a_thread_whose_loop_is_marked_is_not_told(void **state)
{
    struct unwatched_scene it;
    struct feed_loop *loop;

    (void)state;
    begin_unwatched(&it, wait_by_itself);
    loop = &it.scene.feed.writer.loops[1];
    atomic_store(&loop->tid, it.scene.child);
    atomic_store(&loop->state, FEED_LOOP_LIVE);
    atomic_store(&it.scene.feed.writer.header->status.loops_used, 2);
    assert_int_equal(look(&it, UNWATCHED_LOOKS + 1), 0);
    end_unwatched(&it);
}

static void nobody_is_told_where_no_loops_are_wanted(void **state)
{
    struct unwatched_scene it;

    (void)state;
    begin_unwatched(&it, wait_by_itself);
    assert_int_equal(look(&it, UNWATCHED_LOOKS), 1);
    atomic_store(&it.scene.feed.writer.header->control.watch_loops, FEED_WATCH_NONE);
    assert_int_equal(look(&it, 1), 1);
    assert_int_equal(unwatched_list(it.unwatched, NULL, 0), 0);
    end_unwatched(&it);
}

/* A look that is not due reads nothing: the thread would be told otherwise. */
static void looks_become_rare(void **state)
{
    struct unwatched_scene it;
    int64_t began_ns;

    (void)state;
    begin_unwatched(&it, wait_by_itself);
    began_ns = it.now_ns;
    for (int64_t ms = 0; ms < 6000; ms += 10)
        assert_false(unwatched_look(it.unwatched, began_ns + ms * (SECOND_NS / 1000)));
    assert_true(unwatched_look(it.unwatched, began_ns + 6 * SECOND_NS));
    end_unwatched(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_waits_by_system_calls_of_its_own_is_told_after_some_looks),
        cmocka_unit_test(one_that_waits_through_libc_or_for_one_descriptor_is_not),
        cmocka_unit_test(io_uring_without_liburing_is_told),
        cmocka_unit_test(a_thread_whose_loop_is_marked_is_not_told),
        cmocka_unit_test(nobody_is_told_where_no_loops_are_wanted),
        cmocka_unit_test(looks_become_rare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
