/* The acceptor, over a socket in the abstract namespace: who is taken, and when. */
#include "server/net/acceptor.h"
#include "server/net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CALLERS_MAX = 8, GATHER_MS = 50 };

struct fixture {
    struct loop *loop;
    struct acceptor *acceptor;
    struct sockaddr_un address;
    socklen_t address_bytes;
    int callers[CALLERS_MAX];
    unsigned called, taken;
};

static void on_accepted(void *context, int fd)
{
    struct fixture *fixture = context;

    fixture->taken++;
    close(fd);
}

/* Its name is the kernel's choice. */
static int new_listener(struct fixture *fixture)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&any, sizeof(any.sun_family)), 0);
    fixture->address_bytes = sizeof(fixture->address);
    assert_int_equal(
        getsockname(listener, (struct sockaddr *)&fixture->address, &fixture->address_bytes), 0);
    assert_int_equal(listen(listener, CALLERS_MAX), 0);
    return listener;
}

static int begin(void **state)
{
    static const struct acceptor_events events = { .accepted = on_accepted };
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    *state = fixture;
    assert_int_equal(loop_new(&fixture->loop), 0);
    assert_int_equal(
        acceptor_new(&fixture->acceptor, fixture->loop, new_listener(fixture), &events, fixture),
        0);
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;

    loop_free(fixture->loop);
    acceptor_free(fixture->acceptor);
    for (unsigned i = 0; i < fixture->called; i++)
        close(fixture->callers[i]);
    free(fixture);
    return 0;
}

static void call(struct fixture *fixture)
{
    int caller = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    assert_true(fixture->called < CALLERS_MAX);
    fixture->callers[fixture->called++] = caller;
    assert_int_equal(connect(caller, (struct sockaddr *)&fixture->address, fixture->address_bytes),
                     0);
}

static int64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Until so many were taken. Returns how long that took. */
static int64_t step_until(struct fixture *fixture, unsigned taken)
{
    int64_t began_ms = clock_ms();

    while (fixture->taken < taken)
        assert_int_equal(loop_step(fixture->loop), 0);
    assert_int_equal(fixture->taken, taken);
    return clock_ms() - began_ms;
}

/* The loop may have woken for nobody meanwhile; so the least time is told, and not the steps. */
static void who_comes_soon_after_another_is_taken_with_those_that_follow(void **state)
{
    struct fixture *fixture = *state;

    acceptor_gather(fixture->acceptor, GATHER_MS);
    call(fixture);
    step_until(fixture, 1);
    call(fixture);
    call(fixture);
    assert_true(step_until(fixture, 3) >= GATHER_MS / 2);
    call(fixture); /* still one after another */
    assert_true(step_until(fixture, 4) >= GATHER_MS / 2);
}

/* Nobody came for as long: the loop sleeps until the next one, and takes it when it comes. */
static void who_comes_after_a_pause_is_taken_at_once(void **state)
{
    struct fixture *fixture = *state;

    acceptor_gather(fixture->acceptor, 1);
    call(fixture);
    step_until(fixture, 1);
    assert_int_equal(loop_step(fixture->loop), 0); /* the pause */
    acceptor_gather(fixture->acceptor, 1000000);
    call(fixture);
    assert_true(step_until(fixture, 2) < 1000000);
}

static void who_drains_has_all_that_called(void **state)
{
    struct fixture *fixture = *state;

    acceptor_gather(fixture->acceptor, 1000000);
    call(fixture);
    step_until(fixture, 1);
    call(fixture);
    call(fixture);
    acceptor_drain(fixture->acceptor);
    assert_int_equal(fixture->taken, 3);
}

#define ACCEPTOR_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ACCEPTOR_TEST(who_comes_soon_after_another_is_taken_with_those_that_follow),
        ACCEPTOR_TEST(who_comes_after_a_pause_is_taken_at_once),
        ACCEPTOR_TEST(who_drains_has_all_that_called),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
