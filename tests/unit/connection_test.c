/*
 * One socket of the service, over a socket pair: bytes at the other side's pace, an end to who
 * stands still and to nobody else, and last words that arrive.
 */
#include "server/net/connection.h"
#include "server/net/loop.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    PATIENCE_MS = 1,
    LONG_MS = 100000,
    STANDS_MS = 20, /* so many times the patience */
    PIECE_BYTES = 4096,
    MUCH_BYTES = 4 * 1024 * 1024,
};

struct fixture {
    struct loop *loop;
    struct connection *connection;
    int other;
    size_t received;
    unsigned half_closed, turns, ended;
    bool reads_on; /* when the other side sends no more */
    bool owed;
};

static bool on_received(void *context, uint8_t *bytes, size_t size)
{
    struct fixture *fixture = context;

    (void)bytes;
    fixture->received += size;
    return true;
}

static bool on_half_closed(void *context)
{
    struct fixture *fixture = context;

    fixture->half_closed++;
    return fixture->reads_on;
}

static void on_turn(void *context)
{
    struct fixture *fixture = context;

    fixture->turns++;
}

static bool on_owes(const void *context)
{
    return ((const struct fixture *)context)->owed;
}

static void on_ended(void *context)
{
    struct fixture *fixture = context;

    fixture->ended++;
    fixture->connection = NULL;
}

static int begin_with(void **state, uint32_t patience_ms)
{
    static const struct connection_events events = { on_received, on_half_closed, on_turn, on_owes,
                                                     on_ended };
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    int pair[2];

    if (!fixture || loop_new(&fixture->loop) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    fixture->other = pair[1];
    *state = fixture;
    return connection_new(&fixture->connection, fixture->loop, pair[0], patience_ms, &events,
                          fixture);
}

static int begin(void **state)
{
    return begin_with(state, LONG_MS);
}

static int begin_impatient(void **state)
{
    return begin_with(state, PATIENCE_MS);
}

static int end(void **state)
{
    struct fixture *fixture = *state;

    loop_free(fixture->loop);
    if (fixture->other >= 0)
        close(fixture->other);
    free(fixture);
    return 0;
}

static void step(struct fixture *fixture)
{
    assert_int_equal(loop_step(fixture->loop), 0);
}

static void step_to_end(struct fixture *fixture)
{
    while (!fixture->ended)
        step(fixture);
}

static void leave(struct fixture *fixture)
{
    close(fixture->other);
    fixture->other = -1;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static uint8_t byte_at(size_t place)
{
    return (uint8_t)(place ^ place >> 8 ^ place >> 16);
}

/* Bytes of which each is known by its place. */
static uint8_t *make_bytes(size_t size)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(i);
    return bytes;
}

/* What is there for the other side; 0 also where there is nothing yet, *over when no more comes. */
static size_t read_some(struct fixture *fixture, size_t place, bool *over)
{
    uint8_t bytes[PIECE_BYTES];
    ssize_t size = recv(fixture->other, bytes, sizeof(bytes), MSG_DONTWAIT);

    *over = size == 0;
    if (size < 0)
        assert_int_equal(errno, EAGAIN);
    for (ssize_t i = 0; i < size; i++)
        if (bytes[i] != byte_at(place + (size_t)i))
            fail_msg("the byte at %zu is another one", place + (size_t)i);
    return size < 0 ? 0 : (size_t)size;
}

static size_t read_to_end(struct fixture *fixture)
{
    size_t place = 0;
    bool over = false;

    while (!over) {
        size_t size = read_some(fixture, place, &over);

        place += size;
        if (!size && !over)
            step(fixture);
    }
    return place;
}

/* In pieces, of which the other side takes one at a time: until no more fit. */
static void fill(struct fixture *fixture)
{
    uint8_t piece[PIECE_BYTES] = { 0 };

    while (connection_has_room(fixture->connection))
        assert_int_equal(connection_send(fixture->connection, piece, sizeof(piece)), 0);
}

static void take_piece(struct fixture *fixture)
{
    uint8_t piece[PIECE_BYTES];

    assert_true(recv(fixture->other, piece, sizeof(piece), MSG_DONTWAIT) > 0);
}

static void what_the_socket_does_not_take_is_kept(void **state)
{
    struct fixture *fixture = *state;
    uint8_t *bytes = make_bytes(MUCH_BYTES);
    bool over;

    assert_int_equal(connection_send(fixture->connection, bytes, MUCH_BYTES - 1), 0);
    assert_false(connection_has_room(fixture->connection));
    assert_int_equal(connection_send(fixture->connection, bytes + MUCH_BYTES - 1, 1), 0);
    free(bytes);
    for (size_t place = 0; place < MUCH_BYTES;) {
        size_t size = read_some(fixture, place, &over);

        place += size;
        if (!size)
            step(fixture);
    }
    assert_true(connection_has_room(fixture->connection));
}

/* Who has more to say need not ask. */
static void a_turn_comes_when_all_is_with_the_socket(void **state)
{
    struct fixture *fixture = *state;

    fill(fixture);
    connection_turn(fixture->connection);
    while (!connection_has_room(fixture->connection)) {
        assert_int_equal(fixture->turns, 0);
        take_piece(fixture);
        if (recv(fixture->other, &(char){ 0 }, 1, MSG_DONTWAIT | MSG_PEEK) < 0)
            step(fixture);
    }
    assert_int_equal(fixture->turns, 1);
}

static void a_turn_that_was_asked_for_comes_once(void **state)
{
    struct fixture *fixture = *state;

    connection_turn(fixture->connection);
    connection_turn(fixture->connection);
    step(fixture);
    assert_int_equal(fixture->turns, 1);
}

static void who_owes_and_stands_still_is_ended(void **state)
{
    struct fixture *fixture = *state;

    fixture->owed = true;
    connection_turn(fixture->connection);
    step_to_end(fixture);
}

static void who_does_not_read_is_ended(void **state)
{
    struct fixture *fixture = *state;

    fill(fixture);
    step_to_end(fixture);
}

/* However long it takes in all. */
static void who_moves_is_not_ended(void **state)
{
    struct fixture *fixture = *state;
    int64_t until_ms = now_ms() + STANDS_MS;

    fixture->owed = true;
    connection_turn(fixture->connection);
    while (now_ms() < until_ms) {
        connection_moved(fixture->connection);
        step(fixture);
        assert_int_equal(fixture->ended, 0);
    }
    step_to_end(fixture);
}

/* The socket is not writable for a long time; only what waits in it becomes less. */
static void who_reads_slowly_is_not_ended(void **state)
{
    struct fixture *fixture = *state;

    fill(fixture);
    for (int i = 0; i < 5; i++) {
        take_piece(fixture);
        step(fixture); /* its patience is over, and nothing else is to be done */
        assert_int_equal(fixture->ended, 0);
    }
    step_to_end(fixture);
}

static void who_owes_nothing_may_stand_still(void **state)
{
    struct fixture *fixture = *state;
    int64_t until_ms = now_ms() + STANDS_MS;

    while (now_ms() < until_ms) {
        connection_turn(fixture->connection);
        step(fixture);
        assert_int_equal(fixture->ended, 0);
    }
}

static void the_deadline_ends_also_who_moves(void **state)
{
    struct fixture *fixture = *state;

    connection_deadline(fixture->connection, 1);
    while (!fixture->ended) {
        connection_moved(fixture->connection);
        connection_turn(fixture->connection);
        step(fixture);
    }
}

static void a_deadline_that_was_taken_back_ends_nobody(void **state)
{
    struct fixture *fixture = *state;
    int64_t until_ms = now_ms() + STANDS_MS;

    connection_deadline(fixture->connection, 1);
    connection_deadline(fixture->connection, 0);
    while (now_ms() < until_ms) {
        connection_turn(fixture->connection);
        step(fixture);
    }
    assert_int_equal(fixture->ended, 0);
}

/* As `printf ... | nc` does. */
static void who_sends_no_more_may_still_read(void **state)
{
    struct fixture *fixture = *state;

    fixture->reads_on = true;
    assert_int_equal(send(fixture->other, "GET", 3, 0), 3);
    shutdown(fixture->other, SHUT_WR);
    while (!fixture->half_closed)
        step(fixture);
    assert_int_equal(fixture->received, 3);
    connection_turn(fixture->connection);
    step(fixture); /* the end is told once, and the loop is not busy with it */
    assert_int_equal(fixture->half_closed, 1);
    assert_int_equal(fixture->turns, 1);
    assert_int_equal(connection_send(fixture->connection, "\0\1", 2), 0);
    connection_finish(fixture->connection);
    assert_int_equal(read_to_end(fixture), 2);
    step_to_end(fixture);
}

static void who_sends_no_more_is_ended_where_it_says_so(void **state)
{
    struct fixture *fixture = *state;

    shutdown(fixture->other, SHUT_WR);
    step_to_end(fixture);
    assert_int_equal(fixture->half_closed, 1);
}

static void who_leaves_altogether_is_ended(void **state)
{
    struct fixture *fixture = *state;

    fixture->reads_on = true;
    leave(fixture);
    step_to_end(fixture);
    assert_int_equal(fixture->half_closed, 1);
}

static void last_words_arrive_also_when_they_had_to_wait(void **state)
{
    struct fixture *fixture = *state;
    uint8_t *bytes = make_bytes(MUCH_BYTES);

    assert_int_equal(connection_send(fixture->connection, bytes, MUCH_BYTES), 0);
    free(bytes);
    connection_finish(fixture->connection);
    assert_int_equal(read_to_end(fixture), MUCH_BYTES);
    assert_int_equal(fixture->ended, 0);
    assert_int_equal(fixture->turns, 0);
}

static void the_end_waits_for_the_other_side(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(connection_send(fixture->connection, "\0", 1), 0);
    connection_finish(fixture->connection);
    /* It talks on, and nobody listens; but it must not see a reset. */
    assert_int_equal(send(fixture->other, "more", 4, MSG_NOSIGNAL), 4);
    step(fixture);
    assert_int_equal(fixture->ended, 0);
    assert_int_equal(fixture->received, 0);
    assert_int_equal(read_to_end(fixture), 1);
    leave(fixture);
    step_to_end(fixture);
}

static void nothing_is_sent_behind_the_last_word(void **state)
{
    struct fixture *fixture = *state;

    connection_finish(fixture->connection);
    assert_true(connection_send(fixture->connection, "x", 1) < 0);
    assert_int_equal(read_to_end(fixture), 0);
}

static void who_is_gone_is_ended_by_what_is_sent_to_it(void **state)
{
    struct fixture *fixture = *state;

    leave(fixture);
    assert_true(connection_send(fixture->connection, "x", 1) < 0);
    assert_true(connection_send(fixture->connection, "x", 1) < 0);
    step_to_end(fixture);
    assert_int_equal(fixture->ended, 1);
}

static void who_is_ended_at_once_hears_no_more(void **state)
{
    struct fixture *fixture = *state;

    connection_turn(fixture->connection);
    connection_end(fixture->connection);
    assert_true(connection_send(fixture->connection, "x", 1) < 0);
    step(fixture);
    assert_int_equal(fixture->ended, 1);
    assert_int_equal(fixture->turns, 0);
}

#define PATIENT(name)   cmocka_unit_test_setup_teardown(name, begin, end)
#define IMPATIENT(name) cmocka_unit_test_setup_teardown(name, begin_impatient, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PATIENT(what_the_socket_does_not_take_is_kept),
        PATIENT(a_turn_comes_when_all_is_with_the_socket),
        PATIENT(a_turn_that_was_asked_for_comes_once),
        IMPATIENT(who_owes_and_stands_still_is_ended),
        IMPATIENT(who_does_not_read_is_ended),
        IMPATIENT(who_moves_is_not_ended),
        IMPATIENT(who_reads_slowly_is_not_ended),
        IMPATIENT(who_owes_nothing_may_stand_still),
        PATIENT(the_deadline_ends_also_who_moves),
        PATIENT(a_deadline_that_was_taken_back_ends_nobody),
        PATIENT(who_sends_no_more_may_still_read),
        PATIENT(who_sends_no_more_is_ended_where_it_says_so),
        PATIENT(who_leaves_altogether_is_ended),
        PATIENT(last_words_arrive_also_when_they_had_to_wait),
        PATIENT(the_end_waits_for_the_other_side),
        PATIENT(nothing_is_sent_behind_the_last_word),
        PATIENT(who_is_gone_is_ended_by_what_is_sent_to_it),
        PATIENT(who_is_ended_at_once_hears_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
