/*
 * frames.h - WebSocket frames (RFC 6455): a client's, taken apart as they come, and heads for ours.
 *
 *   bytes -> frames_next -> pieces of messages, pings, pongs, the close frame; or what is wrong
 *
 * Nothing is kept but a control frame's payload: a message is handed on in the pieces it comes in.
 *
 * Errors     FRAMES_BROKEN with the close code and the reason. Nothing may be read after it.
 */
#ifndef ISOSCOPE_FRAMES_H
#define ISOSCOPE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frames_opcode {
    FRAMES_CONTINUATION = 0,
    FRAMES_TEXT = 1,
    FRAMES_BINARY = 2,
    FRAMES_CLOSE = 8,
    FRAMES_PING = 9,
    FRAMES_PONG = 10,
};

enum {
    FRAMES_FIN = 0x80,
    FRAMES_PACKED = 0x40, /* RSV1: by permessage-deflate */
    FRAMES_HEAD_MAX = 10, /* of ours: no mask */
    FRAMES_CONTROL_MAX = 125,
};

enum frames_close {
    FRAMES_CLOSE_NORMAL = 1000,
    FRAMES_CLOSE_AWAY = 1001,
    FRAMES_CLOSE_PROTOCOL = 1002,
    FRAMES_CLOSE_NO_STATUS = 1005, /* it said none; never sent */
    FRAMES_CLOSE_NO_TEXT = 1007,
    FRAMES_CLOSE_POLICY = 1008,
    FRAMES_CLOSE_TOO_LONG = 1009,
    FRAMES_CLOSE_INTERNAL = 1011,
};

enum frames_event {
    FRAMES_NOTHING, /* all bytes are taken */
    FRAMES_PIECE,   /* of a message */
    FRAMES_PINGED,
    FRAMES_PONGED,
    FRAMES_CLOSED,
    FRAMES_BROKEN,
};

struct frames {
    bool may_be_packed;  /* permessage-deflate was agreed to */
    uint8_t head[14];    /* of the frame that is coming */
    uint8_t head_length; /* so much of it is here */
    bool in_payload;
    uint64_t left; /* bytes of its payload */
    uint8_t mask_at;
    uint8_t message; /* opcode of the message that is coming; 0: none */
    bool packed;     /* it is */
    uint8_t control[FRAMES_CONTROL_MAX];
    uint8_t control_length;
};

struct frames_piece {
    const uint8_t *bytes; /* lent: in what was given, or in struct frames */
    size_t size;
    uint64_t to_come; /* of the same frame: what it has said */
    bool binary, packed;
    bool ends;          /* the message */
    uint16_t code;      /* of a close frame, or of what is wrong */
    const char *reason; /* of what is wrong */
};

/* Moves *bytes and *size on, unmasking in place. */
enum frames_event frames_next(struct frames *frames, uint8_t **bytes, size_t *size,
                              struct frames_piece *piece);

/* Writes the head of a frame of ours; returns its length. flags: FIN, PACKED. */
size_t frames_head(uint8_t out[FRAMES_HEAD_MAX], enum frames_opcode opcode, unsigned flags,
                   uint64_t size);

#endif
