#include "plt_stub.h"

#include <string.h>

/* [bti c]; adrp x16, page of the slot; ldr x17, [x16, #slot in it]; ... br x17 */
enum {
    WORD = 4,
    BTI_C = 0xd503245f,
    ADRP_X16 = 0x90000010,
    ADRP_MASK = 0x9f00001f,
    LDR_X17_X16 = 0xf9400211,
    LDR_MASK = 0xffc003ff,
};

static uint32_t word_at(const uint8_t *code, uint64_t bytes, uint64_t at)
{
    uint32_t word = 0;

    if (at + WORD <= bytes)
        memcpy(&word, code + at, WORD);
    return word;
}

/* The signed distance in pages, from the two fields of the instruction. */
static uint64_t page_distance(uint32_t adrp)
{
    uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

    return ((pages ^ UINT64_C(0x100000)) - UINT64_C(0x100000)) << 12;
}

bool plt_aarch64_stub(const uint8_t *code, uint64_t bytes, uint64_t address, struct plt_stub *out)
{
    uint64_t at = word_at(code, bytes, 0) == (uint32_t)BTI_C ? WORD : 0;
    uint32_t adrp = word_at(code, bytes, at), ldr = word_at(code, bytes, at + WORD);
    uint64_t page;

    if ((adrp & (uint32_t)ADRP_MASK) != (uint32_t)ADRP_X16 ||
        (ldr & (uint32_t)LDR_MASK) != (uint32_t)LDR_X17_X16)
        return false;
    page = ((address + at) & ~UINT64_C(0xfff)) + page_distance(adrp);
    *out = (struct plt_stub){ address, true, page + (ldr >> 10 & 0xfff) * 8 };
    return true;
}
