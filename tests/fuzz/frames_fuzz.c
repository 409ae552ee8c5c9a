/*
 * frames_fuzz.c - any bytes as a client's WebSocket frames, in pieces as the first byte says.
 *
 * Sanitizers judge; and: pieces change nothing but where messages are cut, and nothing comes behind
 * what is broken. Packed pieces are unpacked, and packed again.
 */
#include "server/http/frames.h"
#include "server/http/packing.h"
#include "server/http/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { UNPACKED_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* What was heard, put together so that it does not depend on the pieces. */
struct heard {
    uint64_t hash;
    size_t length, messages, controls;
    enum frames_event last;
    uint16_t code;
};

static void hear(struct heard *heard, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        heard->hash = (heard->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    heard->length += size;
}

/* False: no more may come. */
static bool unpack(struct packing *packing, const struct frames_piece *piece, struct utf8 *utf8)
{
    const uint8_t *out, *again;
    size_t size, again_size, total = 0;

    packing_give(packing, piece->bytes, piece->size, piece->ends);
    for (;;) {
        if (packing_unpack(packing, &out, &size) < 0 || (total += size) > UNPACKED_MAX)
            return false;
        if (!size)
            return true;
        utf8_take(utf8, out, size);
        if (packing_pack(packing, out, size, piece->ends, &again, &again_size) < 0)
            abort();
    }
}

static bool take(struct heard *heard, struct packing *packing, enum frames_event event,
                 const struct frames_piece *piece, struct utf8 *utf8)
{
    heard->last = event;
    switch (event) {
    case FRAMES_PIECE:
        hear(heard, piece->bytes, piece->size);
        heard->messages += piece->ends;
        utf8_take(utf8, piece->bytes, piece->size);
        return !piece->packed || unpack(packing, piece, utf8);
    case FRAMES_PINGED:
    case FRAMES_PONGED:
        if (piece->size > FRAMES_CONTROL_MAX)
            abort();
        hear(heard, piece->bytes, piece->size);
        heard->controls++;
        return true;
    case FRAMES_BROKEN:
        if (!piece->reason ||
            (piece->code != FRAMES_CLOSE_PROTOCOL && piece->code != FRAMES_CLOSE_NO_TEXT))
            abort();
        heard->code = piece->code;
        return false;
    case FRAMES_CLOSED:
        heard->code = piece->code;
        return false;
    default:
        return false;
    }
}

static struct heard listen_in_steps(const uint8_t *bytes, size_t count, size_t step, bool packed)
{
    static const struct packing_terms terms = { .window_bits = 15 };
    struct frames frames = { .may_be_packed = packed };
    struct heard heard = { 0 };
    struct packing *packing = NULL;
    struct utf8 utf8 = { 0 };
    bool goes_on = packing_new(&packing, &terms) == 0;

    for (size_t at = 0; goes_on && at < count; at += step) {
        size_t size = count - at < step ? count - at : step;
        uint8_t *piece_bytes = malloc(size), *rest = piece_bytes;
        struct frames_piece piece;
        enum frames_event event;

        memcpy(piece_bytes, bytes + at, size);
        while (goes_on && (event = frames_next(&frames, &rest, &size, &piece)) != FRAMES_NOTHING)
            goes_on = take(&heard, packing, event, &piece, &utf8);
        free(piece_bytes);
    }
    packing_free(packing);
    return heard;
}

static void agree(const uint8_t *bytes, size_t count)
{
    char offer[256], answer[128];
    struct packing_terms terms;
    size_t length = count < sizeof(offer) ? count : sizeof(offer) - 1;

    memcpy(offer, bytes, length);
    offer[length] = '\0';
    if (packing_agree(offer, &terms, answer, sizeof(answer)) &&
        (terms.window_bits < 9 || terms.window_bits > 15))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!count)
        return 0;

    struct heard whole = listen_in_steps(bytes + 1, count - 1, count, false);
    struct heard pieces = listen_in_steps(bytes + 1, count - 1, bytes[0] % 16 + 1u, false);
    if (whole.hash != pieces.hash || whole.length != pieces.length || whole.code != pieces.code ||
        whole.messages != pieces.messages || whole.controls != pieces.controls)
        abort();
    listen_in_steps(bytes + 1, count - 1, bytes[0] + 1u, true);
    agree(bytes + 1, count - 1);
    return 0;
}
