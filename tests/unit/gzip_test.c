#include "server/http/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

enum { BYTES = 1 << 20 };

/* Every other half can be packed; the rest cannot. */
static uint8_t *mixed_bytes(void)
{
    uint8_t *bytes = malloc(BYTES);
    uint32_t state = 1;

    for (size_t i = 0; i < BYTES; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = i & 4096 ? (uint8_t)(state >> 24) : 'x';
    }
    return bytes;
}

/* Its size; the format is gzip's. */
static size_t unpack(const uint8_t *packed, size_t size, uint8_t *out)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed,
                        .avail_in = (uInt)size,
                        .next_out = out,
                        .avail_out = BYTES };

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
    return BYTES - stream.avail_out;
}

static void pieces_of_any_size_are_one_answer(void **state)
{
    static const size_t sizes[] = { 1, 100, 32 * 1024, BYTES };
    uint8_t *bytes = mixed_bytes(), *packed = malloc(2 * BYTES), *again = malloc(BYTES);

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t length = 0, size = sizes[i], whole = size == 1 ? 1000 : BYTES, one_size;
        const uint8_t *one;
        struct gzip *gzip;

        assert_int_equal(gzip_new(&gzip), 0);
        for (size_t at = 0; at < whole; at += size) {
            size_t left = whole - at < size ? whole - at : size;

            assert_int_equal(gzip_pack(gzip, bytes + at, left, at + left == whole, &one, &one_size),
                             0);
            assert_true(length + one_size <= 2 * BYTES);
            memcpy(packed + length, one, one_size);
            length += one_size;
        }
        gzip_free(gzip);
        assert_int_equal(unpack(packed, length, again), whole);
        assert_memory_equal(again, bytes, whole);
    }
    free(bytes);
    free(packed);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_are_one_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
