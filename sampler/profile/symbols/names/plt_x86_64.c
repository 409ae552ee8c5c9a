#include "plt_stub.h"

#include <stddef.h>
#include <string.h>

/* What may come before the jump: endbr64, a bnd prefix, "mov $number, %r11d" of some linkers. */
static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
enum { BND = 0xf2, MOV_BYTES = 6, PUSH = 0x68, PUSH_BYTES = 5, JUMP_BYTES = 6 };
static const uint8_t mov_r11d[] = { 0x41, 0xbb };
static const uint8_t jump_slot[] = { 0xff, 0x25 };

static bool starts(const uint8_t *code, uint64_t bytes, uint64_t at, const uint8_t *with,
                   size_t length)
{
    return at + length <= bytes && !memcmp(code + at, with, length);
}

bool plt_x86_64_stub(const uint8_t *code, uint64_t bytes, uint64_t address, struct plt_stub *out)
{
    uint64_t at = starts(code, bytes, 0, endbr64, sizeof(endbr64)) ? sizeof(endbr64) : 0;
    uint32_t number;
    int32_t distance;

    if (starts(code, bytes, at, mov_r11d, sizeof(mov_r11d)))
        at += MOV_BYTES;
    if (at < bytes && code[at] == BND)
        at++;
    if (starts(code, bytes, at, jump_slot, sizeof(jump_slot)) && at + JUMP_BYTES <= bytes) {
        memcpy(&distance, code + at + sizeof(jump_slot), sizeof(distance));
        *out = (struct plt_stub){ address, true,
                                  address + at + JUMP_BYTES + (uint64_t)(int64_t)distance };
        return true;
    }
    /* The first half of a stub whose second half lies in .plt.sec: it asks the loader to find
     * relocation number so and so. */
    if (at + PUSH_BYTES <= bytes && code[at] == PUSH) {
        memcpy(&number, code + at + 1, sizeof(number));
        *out = (struct plt_stub){ address, false, number };
        return true;
    }
    return false;
}
