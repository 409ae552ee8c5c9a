/*
 * sha1.h - SHA-1, which a WebSocket's handshake is made of, and nothing else here.
 */
#ifndef ISOSCOPE_SHA1_H
#define ISOSCOPE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { SHA1_BYTES = 20, SHA1_TEXT_MAX = 119 };

/* size: at most SHA1_TEXT_MAX. */
void sha1(uint8_t out[SHA1_BYTES], const void *bytes, size_t size);

#endif
