/* Clients' WebSocket frames, and heads of ours. What each mistake is closed with: tests/live. */
#include "server/http/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* RFC 6455, 5.7: "Hello", masked. */
static const uint8_t hello[] = { 0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58 };

static void a_masked_frame_is_unmasked(void **state)
{
    struct frames frames = { 0 };
    struct frames_piece piece;
    uint8_t bytes[sizeof(hello)], *at = bytes;
    size_t size = sizeof(bytes);

    (void)state;
    memcpy(bytes, hello, sizeof(hello));
    assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_PIECE);
    assert_int_equal(piece.size, 5);
    assert_memory_equal(piece.bytes, "Hello", 5);
    assert_true(piece.ends && !piece.binary && !piece.packed);
    assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_NOTHING);
    assert_int_equal(size, 0);
}

static void a_frame_may_come_byte_by_byte(void **state)
{
    struct frames frames = { 0 };
    struct frames_piece piece;
    char text[8] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(hello); i++) {
        uint8_t byte = hello[i], *at = &byte;
        size_t size = 1;

        while (frames_next(&frames, &at, &size, &piece) == FRAMES_PIECE) {
            assert_int_equal(piece.ends, i + 1 == sizeof(hello));
            strncat(text, (const char *)piece.bytes, piece.size);
        }
    }
    assert_string_equal(text, "Hello");
}

static void a_frame_that_breaks_the_rules_is_broken_and_a_reason_tells_which(void **state)
{
    static const struct {
        uint8_t bytes[14];
        size_t size;
        const char *reason;
    } cases[] = {
        { { 0x81, 0x05, 'H', 'e', 'l', 'l', 'o' }, 7, "a client's frame needs a mask" },
        { { 0xa1, 0x80 }, 6, "a reserved bit is set" },
        { { 0xc1, 0x80 }, 6, "a reserved bit is set" },
        { { 0x83, 0x80 }, 6, "unknown opcode" },
        { { 0x09, 0x80 }, 6, "a control frame is neither fragmented nor packed" },
        { { 0x89, 0xfe, 0, 126 }, 8, "a control frame is too long" },
        { { 0x80, 0x80 }, 6, "there is no message to go on with" },
        { { 0x81, 0xff, 0x80 }, 14, "a frame of 2^63 bytes or more" },
        { { 0x81, 0xfe, 0, 125 }, 8, "a length takes more bytes than it needs" },
        { { 0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff },
          14,
          "a length takes more bytes than it needs" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct frames frames = { 0 };
        struct frames_piece piece;
        uint8_t bytes[14], *at = bytes;
        size_t size = cases[i].size;

        memcpy(bytes, cases[i].bytes, sizeof(bytes));
        assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_BROKEN);
        assert_int_equal(piece.code, FRAMES_CLOSE_PROTOCOL);
        assert_string_equal(piece.reason, cases[i].reason);
    }
}

static void what_comes_between_the_pieces_of_a_message_is_broken(void **state)
{
    static const struct {
        uint8_t second[6];
        const char *reason;
    } cases[] = {
        { { 0x81, 0x80 }, "a message begins within another one" },
        { { 0xc0, 0x80 }, "only a message's first frame says that it is packed" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct frames frames = { .may_be_packed = true };
        struct frames_piece piece;
        uint8_t bytes[13] = { 0x01, 0x81, 0, 0, 0, 0, 'H' }, *at = bytes;
        size_t size = sizeof(bytes);

        memcpy(bytes + 7, cases[i].second, sizeof(cases[i].second));
        assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_PIECE);
        assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_BROKEN);
        assert_string_equal(piece.reason, cases[i].reason);
    }
}

static void an_announced_length_is_told_with_the_first_piece(void **state)
{
    struct frames frames = { 0 };
    struct frames_piece piece;
    uint8_t bytes[] = { 0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'x' }, *at = bytes;
    size_t size = sizeof(bytes);

    (void)state;
    assert_int_equal(frames_next(&frames, &at, &size, &piece), FRAMES_PIECE);
    assert_int_equal(piece.to_come, (UINT64_C(1) << 40) - 1);
    assert_true(piece.binary && !piece.ends);
}

static void a_length_takes_as_few_bytes_as_it_can(void **state)
{
    uint8_t head[FRAMES_HEAD_MAX];

    (void)state;
    assert_int_equal(frames_head(head, FRAMES_TEXT, FRAMES_FIN, 125), 2);
    assert_memory_equal(head, "\x81\x7d", 2);
    assert_int_equal(frames_head(head, FRAMES_CONTINUATION, 0, 126), 4);
    assert_memory_equal(head, "\x00\x7e\x00\x7e", 4);
    assert_int_equal(frames_head(head, FRAMES_PONG, FRAMES_FIN, 65535), 4);
    assert_int_equal(frames_head(head, FRAMES_TEXT, FRAMES_FIN | FRAMES_PACKED, 65536), 10);
    assert_memory_equal(head, "\xc1\x7f\0\0\0\0\0\1\0\0", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_masked_frame_is_unmasked),
        cmocka_unit_test(a_frame_may_come_byte_by_byte),
        cmocka_unit_test(a_frame_that_breaks_the_rules_is_broken_and_a_reason_tells_which),
        cmocka_unit_test(what_comes_between_the_pieces_of_a_message_is_broken),
        cmocka_unit_test(an_announced_length_is_told_with_the_first_piece),
        cmocka_unit_test(a_length_takes_as_few_bytes_as_it_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
