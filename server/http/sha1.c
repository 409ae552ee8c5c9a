#include "sha1.h"

#include <assert.h>
#include <string.h>

enum { BLOCK_BYTES = 64 };

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

/* What FIPS 180-4 calls f and K: each for 20 rounds. */
static uint32_t mix(unsigned round, const uint32_t v[5])
{
    switch (round / 20) {
    case 0:
        return ((v[1] & v[2]) | (~v[1] & v[3])) + 0x5a827999;
    case 1:
        return (v[1] ^ v[2] ^ v[3]) + 0x6ed9eba1;
    case 2:
        return ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])) + 0x8f1bbcdc;
    default:
        return (v[1] ^ v[2] ^ v[3]) + 0xca62c1d6;
    }
}

static void take_block(uint32_t state[5], const uint8_t block[BLOCK_BYTES])
{
    uint32_t words[80], v[5];

    for (unsigned i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    memcpy(v, state, sizeof(v));
    for (unsigned i = 0; i < 80; i++) {
        uint32_t next = rotate(v[0], 5) + mix(i, v) + v[4] + words[i];

        memmove(v + 1, v, 4 * sizeof(v[0]));
        v[2] = rotate(v[2], 30);
        v[0] = next;
    }
    for (unsigned i = 0; i < 5; i++)
        state[i] += v[i];
}

void sha1(uint8_t out[SHA1_BYTES], const void *bytes, size_t size)
{
    uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    uint8_t text[2 * BLOCK_BYTES] = { 0 };
    size_t blocks = size + 9 > BLOCK_BYTES ? 2 : 1;

    assert(size <= SHA1_TEXT_MAX);
    memcpy(text, bytes, size);
    text[size] = 0x80;
    text[blocks * BLOCK_BYTES - 2] = (uint8_t)(size >> 5); /* its bits, big-endian */
    text[blocks * BLOCK_BYTES - 1] = (uint8_t)(size << 3);
    for (size_t i = 0; i < blocks; i++)
        take_block(state, text + i * BLOCK_BYTES);
    for (unsigned i = 0; i < SHA1_BYTES; i++)
        out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
