#include "frames.h"

#include "utf8.h"

#include <string.h>

enum {
    RESERVED = 0x30, /* RSV2, RSV3 */
    MASKED = 0x80,
    MASK_BYTES = 4,
    LENGTH_16 = 126,
    LENGTH_64 = 127,
};

static enum frames_event broken(struct frames_piece *piece, uint16_t code, const char *reason)
{
    *piece = (struct frames_piece){ .code = code, .reason = reason };
    return FRAMES_BROKEN;
}

static uint8_t opcode_of(const struct frames *frames)
{
    return frames->head[0] & 0x0f;
}

static bool is_control(const struct frames *frames)
{
    return opcode_of(frames) >= FRAMES_CLOSE;
}

/* NULL: good, as far as its first two bytes tell. */
static const char *check_start(const struct frames *frames)
{
    uint8_t first = frames->head[0], second = frames->head[1], opcode = opcode_of(frames);
    bool packed = first & FRAMES_PACKED;

    if (first & RESERVED || (packed && !frames->may_be_packed))
        return "a reserved bit is set";
    if (opcode > FRAMES_PONG || (opcode > FRAMES_BINARY && opcode < FRAMES_CLOSE))
        return "unknown opcode";
    if (!(second & MASKED))
        return "a client's frame needs a mask";
    if (is_control(frames)) {
        if (!(first & FRAMES_FIN) || packed)
            return "a control frame is neither fragmented nor packed";
        return (second & ~MASKED) > FRAMES_CONTROL_MAX ? "a control frame is too long" : NULL;
    }
    if (opcode == FRAMES_CONTINUATION)
        return !frames->message ? "there is no message to go on with"
               : packed         ? "only a message's first frame says that it is packed"
                                : NULL;
    return frames->message ? "a message begins within another one" : NULL;
}

static size_t head_size(const struct frames *frames)
{
    uint8_t length = frames->head_length < 2 ? 0 : frames->head[1] & ~MASKED;

    if (frames->head_length < 2)
        return 2;
    return 2 + (length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0) + MASK_BYTES;
}

static const char *read_length(struct frames *frames)
{
    uint8_t length = frames->head[1] & ~MASKED;
    size_t count = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;

    frames->left = count ? 0 : length;
    for (size_t i = 0; i < count; i++)
        frames->left = frames->left << 8 | frames->head[2 + i];
    if (frames->left >> 63)
        return "a frame of 2^63 bytes or more";
    if (count && frames->left < (count == 2 ? LENGTH_16 : 0x10000))
        return "a length takes more bytes than it needs";
    return NULL;
}

static void begin_payload(struct frames *frames)
{
    uint8_t opcode = opcode_of(frames);

    frames->in_payload = true;
    frames->mask_at = 0;
    frames->control_length = 0;
    if (opcode == FRAMES_TEXT || opcode == FRAMES_BINARY) {
        frames->message = opcode;
        frames->packed = frames->head[0] & FRAMES_PACKED;
    }
}

/* NULL: good so far. */
static const char *take_head(struct frames *frames, uint8_t **bytes, size_t *size)
{
    const char *wrong = NULL;

    while (*size && !wrong && !frames->in_payload) {
        frames->head[frames->head_length++] = *(*bytes)++;
        --*size;
        if (frames->head_length == 2)
            wrong = check_start(frames);
        else if (frames->head_length == head_size(frames) && !(wrong = read_length(frames)))
            begin_payload(frames);
    }
    return wrong;
}

static void unmask(struct frames *frames, uint8_t *bytes, size_t size)
{
    const uint8_t *mask = frames->head + frames->head_length - MASK_BYTES;
    uint8_t turned[8];
    uint64_t word, key;
    size_t at = 0;

    for (size_t i = 0; i < sizeof(turned); i++)
        turned[i] = mask[(frames->mask_at + i) % MASK_BYTES];
    memcpy(&key, turned, sizeof(key));
    for (; at + sizeof(word) <= size; at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        word ^= key;
        memcpy(bytes + at, &word, sizeof(word));
    }
    for (; at < size; at++)
        bytes[at] ^= turned[at % sizeof(turned)];
    frames->mask_at = (uint8_t)((frames->mask_at + size) % MASK_BYTES);
}

/* Those that an endpoint may send (RFC 6455, 7.4, and the registry of codes). */
static bool may_be_sent(uint16_t code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static enum frames_event closed(const struct frames *frames, struct frames_piece *piece)
{
    struct utf8 reason = { 0 };

    if (frames->control_length == 0) {
        piece->code = FRAMES_CLOSE_NO_STATUS;
        return FRAMES_CLOSED;
    }
    if (frames->control_length == 1)
        return broken(piece, FRAMES_CLOSE_PROTOCOL, "a close frame of one byte");
    piece->code = (uint16_t)(frames->control[0] << 8 | frames->control[1]);
    if (!may_be_sent(piece->code))
        return broken(piece, FRAMES_CLOSE_PROTOCOL, "no client may send this close code");
    if (!utf8_take(&reason, frames->control + 2, frames->control_length - 2u) ||
        !utf8_whole(&reason))
        return broken(piece, FRAMES_CLOSE_NO_TEXT, "the close reason is not UTF-8");
    return FRAMES_CLOSED;
}

static enum frames_event control_done(struct frames *frames, struct frames_piece *piece)
{
    *piece = (struct frames_piece){ .bytes = frames->control, .size = frames->control_length };
    if (opcode_of(frames) == FRAMES_CLOSE)
        return closed(frames, piece);
    return opcode_of(frames) == FRAMES_PING ? FRAMES_PINGED : FRAMES_PONGED;
}

static void frame_done(struct frames *frames)
{
    frames->in_payload = false;
    frames->head_length = 0;
}

static enum frames_event take_control(struct frames *frames, const uint8_t *bytes, size_t size,
                                      struct frames_piece *piece)
{
    memcpy(frames->control + frames->control_length, bytes, size);
    frames->control_length += (uint8_t)size;
    if (frames->left)
        return FRAMES_NOTHING;
    frame_done(frames);
    return control_done(frames, piece);
}

static enum frames_event take_data(struct frames *frames, const uint8_t *bytes, size_t size,
                                   struct frames_piece *piece)
{
    *piece = (struct frames_piece){
        .bytes = bytes,
        .size = size,
        .to_come = frames->left,
        .binary = frames->message == FRAMES_BINARY,
        .packed = frames->packed,
        .ends = !frames->left && frames->head[0] & FRAMES_FIN,
    };
    if (!frames->left)
        frame_done(frames);
    if (piece->ends)
        frames->message = 0;
    return FRAMES_PIECE;
}

enum frames_event frames_next(struct frames *frames, uint8_t **bytes, size_t *size,
                              struct frames_piece *piece)
{
    const char *wrong = take_head(frames, bytes, size);

    if (wrong)
        return broken(piece, FRAMES_CLOSE_PROTOCOL, wrong);
    if (!frames->in_payload || (!*size && frames->left))
        return FRAMES_NOTHING;

    uint8_t *payload = *bytes;
    size_t count = *size < frames->left ? *size : (size_t)frames->left;
    *bytes += count;
    *size -= count;
    frames->left -= count;
    unmask(frames, payload, count);
    return is_control(frames) ? take_control(frames, payload, count, piece)
                              : take_data(frames, payload, count, piece);
}

size_t frames_head(uint8_t out[FRAMES_HEAD_MAX], enum frames_opcode opcode, unsigned flags,
                   uint64_t size)
{
    size_t count = size < LENGTH_16 ? 0 : size < 0x10000 ? 2 : 8;

    out[0] = (uint8_t)(flags | opcode);
    out[1] = count == 0 ? (uint8_t)size : count == 2 ? LENGTH_16 : LENGTH_64;
    for (size_t i = 0; i < count; i++)
        out[2 + i] = (uint8_t)(size >> (8 * (count - 1 - i)));
    return 2 + count;
}
