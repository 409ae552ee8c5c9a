/* The service thread's loop, over socket pairs: who is called, in which order, and who is not. */
#include "server/net/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PLACES = 3, FULL_BYTES = 4096 };

/* One watch. Each call of it is written down: its name, and the call's first letter. */
struct place {
    struct fixture *fixture;
    struct io_watch *watch; /* NULL: it has ended */
    struct place *ends;     /* another one, whenever it is called */
    int fd, other;
    char name;
    bool asks_again, leaves;
};

struct fixture {
    struct loop *loop;
    struct place places[PLACES];
    char calls[64];
};

static bool called(struct place *place, char call)
{
    char *calls = place->fixture->calls;
    size_t length = strlen(calls);

    assert_true(length + 3 < sizeof(place->fixture->calls));
    calls[length] = place->name;
    calls[length + 1] = call;
    if (place->ends && place->ends->watch)
        io_watch_end(place->ends->watch);
    return !place->leaves;
}

static bool on_ready(void *context)
{
    struct place *place = context;
    char byte;

    assert_true(recv(place->fd, &byte, 1, MSG_DONTWAIT) >= 0);
    return called(place, 'r');
}

static bool on_turn(void *context)
{
    struct place *place = context;

    if (place->asks_again)
        io_watch_turn(place->watch);
    place->asks_again = false;
    return called(place, 't');
}

static bool on_due(void *context)
{
    return called(context, 'd');
}

static void on_ended(void *context)
{
    struct place *place = context;

    assert_int_equal(fcntl(place->fd, F_GETFD), -1);
    place->watch = NULL;
    called(place, 'e');
}

static const struct io_watch_events watched = {
    .ready = on_ready, .turn = on_turn, .due = on_due, .ended = on_ended
};

static void open_place(struct fixture *fixture, int number, const struct io_watch_events *events)
{
    struct place *place = &fixture->places[number];
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    *place = (struct place){
        .fixture = fixture, .fd = pair[0], .other = pair[1], .name = (char)('A' + number)
    };
    assert_int_equal(loop_watch(fixture->loop, &place->watch, place->fd, events, place), 0);
}

static int begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    if (!fixture || loop_new(&fixture->loop) < 0)
        return -1;
    for (int i = 0; i < PLACES; i++)
        open_place(fixture, i, &watched);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;

    memset(fixture->calls, 0, sizeof(fixture->calls));
    loop_free(fixture->loop);
    for (int i = 0; i < PLACES; i++)
        close(fixture->places[i].other);
    free(fixture);
    return 0;
}

/* One step, and what was called in it. */
static const char *step(struct fixture *fixture)
{
    memset(fixture->calls, 0, sizeof(fixture->calls));
    assert_int_equal(loop_step(fixture->loop), 0);
    return fixture->calls;
}

/* Steps until something is called. */
static const char *next_calls(struct fixture *fixture)
{
    while (!step(fixture)[0])
        continue;
    return fixture->calls;
}

static void say_to(struct place *place)
{
    assert_int_equal(send(place->other, "x", 1, 0), 1);
}

/* Any order of the two is right: the kernel says who is ready first. */
static void assert_either(const char *calls, const char *one, const char *two)
{
    if (strcmp(calls, one) != 0)
        assert_string_equal(calls, two);
}

static void turns_come_in_the_order_in_which_they_were_asked_for(void **state)
{
    struct fixture *fixture = *state;

    io_watch_turn(fixture->places[1].watch);
    io_watch_turn(fixture->places[0].watch);
    io_watch_turn(fixture->places[2].watch);
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "BtAtCt");
}

static void who_asks_again_has_its_turn_in_the_next_step(void **state)
{
    struct fixture *fixture = *state;

    fixture->places[0].asks_again = true;
    io_watch_turn(fixture->places[0].watch);
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "AtBt");
    assert_string_equal(step(fixture), "At");
}

static void turns_come_behind_all_that_is_ready(void **state)
{
    struct fixture *fixture = *state;

    io_watch_turn(fixture->places[0].watch);
    say_to(&fixture->places[2]);
    assert_string_equal(step(fixture), "CrAt");
}

static void who_was_ended_by_another_one_that_is_ready_gets_no_call(void **state)
{
    struct fixture *fixture = *state;

    fixture->places[0].ends = &fixture->places[1];
    fixture->places[1].ends = &fixture->places[0];
    say_to(&fixture->places[0]);
    say_to(&fixture->places[1]);
    assert_either(step(fixture), "ArBeAe", "BrAeBe");
}

static void who_was_ended_in_anothers_turn_gets_none(void **state)
{
    struct fixture *fixture = *state;

    fixture->places[0].ends = &fixture->places[1];
    for (int i = 0; i < PLACES; i++)
        io_watch_turn(fixture->places[i].watch);
    assert_string_equal(step(fixture), "AtCtBe");
}

static void a_turn_that_was_asked_for_ends_with_its_watch(void **state)
{
    struct fixture *fixture = *state;

    fixture->places[1].ends = &fixture->places[0];
    fixture->places[0].asks_again = true;
    io_watch_turn(fixture->places[0].watch);
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "AtBtAe");
    io_watch_turn(fixture->places[2].watch);
    assert_string_equal(step(fixture), "Ct");
}

static void who_says_false_ends_in_the_same_step(void **state)
{
    struct fixture *fixture = *state;
    char byte;

    fixture->places[0].leaves = true;
    say_to(&fixture->places[0]);
    assert_string_equal(step(fixture), "ArAe");
    assert_int_equal(recv(fixture->places[0].other, &byte, 1, MSG_DONTWAIT), 0);
}

static void who_is_ended_between_two_steps_is_told_without_waiting(void **state)
{
    struct fixture *fixture = *state;

    io_watch_end(fixture->places[1].watch);
    io_watch_end(fixture->places[1].watch);
    assert_string_equal(step(fixture), "Be");
}

/* As a child process holds it. */
static void a_duplicate_of_one_that_has_ended_wakes_nobody(void **state)
{
    struct fixture *fixture = *state;
    int duplicate = dup(fixture->places[0].fd);

    say_to(&fixture->places[0]);
    io_watch_end(fixture->places[0].watch);
    assert_string_equal(step(fixture), "Ae");
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "Bt");
    close(duplicate);
}

static void who_does_not_read_is_not_called_until_it_does(void **state)
{
    struct fixture *fixture = *state;

    say_to(&fixture->places[0]);
    io_watch_reads(fixture->places[0].watch, false);
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "Bt");
    io_watch_reads(fixture->places[0].watch, true);
    assert_string_equal(step(fixture), "Ar");
}

static void fill(const struct place *place)
{
    static const char bytes[FULL_BYTES];

    while (send(place->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        continue;
    assert_int_equal(errno, EAGAIN);
}

static void empty(const struct place *place)
{
    static char bytes[FULL_BYTES];

    while (recv(place->other, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        continue;
}

static void room_is_told_once(void **state)
{
    struct fixture *fixture = *state;

    fill(&fixture->places[0]);
    io_watch_await_room(fixture->places[0].watch);
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "Bt");
    empty(&fixture->places[0]);
    assert_string_equal(step(fixture), "At");
    io_watch_turn(fixture->places[1].watch);
    assert_string_equal(step(fixture), "Bt");
}

static void who_waits_for_room_reads_on(void **state)
{
    struct fixture *fixture = *state;

    fill(&fixture->places[0]);
    io_watch_await_room(fixture->places[0].watch);
    say_to(&fixture->places[0]);
    assert_string_equal(step(fixture), "Ar");
    empty(&fixture->places[0]);
    assert_string_equal(step(fixture), "At");
}

static void a_deadline_comes_once(void **state)
{
    struct fixture *fixture = *state;

    io_watch_timeout(fixture->places[0].watch, 1);
    assert_string_equal(next_calls(fixture), "Ad");
    io_watch_timeout(fixture->places[1].watch, 1);
    assert_string_equal(next_calls(fixture), "Bd");
}

static void a_deadline_that_was_taken_back_does_not_come(void **state)
{
    struct fixture *fixture = *state;

    io_watch_timeout(fixture->places[0].watch, 1);
    io_watch_timeout(fixture->places[1].watch, 1);
    io_watch_timeout(fixture->places[0].watch, 0);
    assert_string_equal(next_calls(fixture), "Bd");
    io_watch_turn(fixture->places[2].watch);
    assert_string_equal(next_calls(fixture), "Ct");
}

static void who_has_no_word_on_its_deadline_ends_by_it(void **state)
{
    static const struct io_watch_events silent = { .ready = on_ready, .ended = on_ended };
    struct fixture *fixture = *state;

    io_watch_end(fixture->places[0].watch);
    assert_string_equal(step(fixture), "Ae");
    close(fixture->places[0].other);
    open_place(fixture, 0, &silent);
    io_watch_timeout(fixture->places[0].watch, 1);
    assert_string_equal(next_calls(fixture), "Ae");
}

/* The loop goes through its watches, newest first; the first one ends the next. */
static void who_ends_others_at_its_deadline_leaves_the_rest_theirs(void **state)
{
    struct fixture *fixture = *state;

    fixture->places[2].ends = &fixture->places[1];
    for (int i = PLACES - 1; i >= 0; i--)
        io_watch_timeout(fixture->places[i].watch, 1);
    assert_string_equal(next_calls(fixture), "CdBe");
    assert_string_equal(next_calls(fixture), "Ad");
}

static void the_end_of_the_loop_is_told_to_all(void **state)
{
    struct fixture *fixture = *state;

    memset(fixture->calls, 0, sizeof(fixture->calls));
    fixture->places[2].ends = &fixture->places[0];
    io_watch_turn(fixture->places[1].watch);
    loop_free(fixture->loop);
    fixture->loop = NULL;
    assert_string_equal(fixture->calls, "CeAeBe");
}

#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(turns_come_in_the_order_in_which_they_were_asked_for),
        LOOP_TEST(who_asks_again_has_its_turn_in_the_next_step),
        LOOP_TEST(turns_come_behind_all_that_is_ready),
        LOOP_TEST(who_was_ended_by_another_one_that_is_ready_gets_no_call),
        LOOP_TEST(who_was_ended_in_anothers_turn_gets_none),
        LOOP_TEST(a_turn_that_was_asked_for_ends_with_its_watch),
        LOOP_TEST(who_says_false_ends_in_the_same_step),
        LOOP_TEST(who_is_ended_between_two_steps_is_told_without_waiting),
        LOOP_TEST(a_duplicate_of_one_that_has_ended_wakes_nobody),
        LOOP_TEST(who_does_not_read_is_not_called_until_it_does),
        LOOP_TEST(room_is_told_once),
        LOOP_TEST(who_waits_for_room_reads_on),
        LOOP_TEST(a_deadline_comes_once),
        LOOP_TEST(a_deadline_that_was_taken_back_does_not_come),
        LOOP_TEST(who_has_no_word_on_its_deadline_ends_by_it),
        LOOP_TEST(who_ends_others_at_its_deadline_leaves_the_rest_theirs),
        LOOP_TEST(the_end_of_the_loop_is_told_to_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
