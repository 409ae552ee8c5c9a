/* The program's output on its way to the clients. */
#include "server/service/heard_output.h"
#include "server/net/loop.h"
#include "server/service/output_piece.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PIECES_MAX = 1000 };

struct fixture {
    struct loop *loop;
    struct heard_output *heard;
    int writer;
    bool goes_on; /* each piece is followed by another one */
    unsigned pieces;
    char text[64];
};

static void say(const struct fixture *fixture, enum service_output output, const char *text)
{
    struct output_piece piece = { .output = (uint8_t)output };
    size_t size = offsetof(struct output_piece, bytes) + strlen(text);

    memcpy(piece.bytes, text, strlen(text));
    assert_int_equal(send(fixture->writer, &piece, size, 0), size);
}

static void on_wrote(void *context, enum service_output output, const void *bytes, size_t length)
{
    struct fixture *fixture = context;

    assert_true(fixture->pieces++ < PIECES_MAX);
    if (fixture->goes_on)
        return say(fixture, SERVICE_STDOUT, "y");
    assert_true(strlen(fixture->text) + length + 1 < sizeof(fixture->text));
    strcat(fixture->text, output == SERVICE_STDOUT ? "1" : "2");
    strncat(fixture->text, bytes, length);
}

static int begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    int pair[2];

    if (!fixture || loop_new(&fixture->loop) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    fixture->writer = pair[0];
    *state = fixture;
    return heard_output_new(&fixture->heard, pair[1], fixture->loop, on_wrote, fixture);
}

static int end(void **state)
{
    struct fixture *fixture = *state;

    loop_free(fixture->loop);
    heard_output_free(fixture->heard);
    close(fixture->writer);
    free(fixture);
    return 0;
}

static void pieces_come_as_they_were_written(void **state)
{
    struct fixture *fixture = *state;

    say(fixture, SERVICE_STDOUT, "out");
    say(fixture, SERVICE_STDERR, "err");
    assert_int_equal(loop_step(fixture->loop), 0);
    assert_string_equal(fixture->text, "1out2err");
}

/* As `yes` does: who listens and who asks have their turns all the same. */
static void a_program_that_writes_without_end_does_not_hold_the_loop(void **state)
{
    struct fixture *fixture = *state;

    fixture->goes_on = true;
    say(fixture, SERVICE_STDOUT, "y");
    for (unsigned step = 1; step < 10; step++) {
        assert_int_equal(loop_step(fixture->loop), 0);
        assert_in_range(fixture->pieces, step, 10 * step);
    }
}

static void what_is_there_at_the_end_is_taken_at_once(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 20; i++)
        say(fixture, SERVICE_STDOUT, "x");
    heard_output_drain(fixture->heard);
    assert_int_equal(fixture->pieces, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_come_as_they_were_written, begin, end),
        cmocka_unit_test_setup_teardown(a_program_that_writes_without_end_does_not_hold_the_loop,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_there_at_the_end_is_taken_at_once, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
