/*
 * handshake.h - what a WebSocket's opening agrees on.
 *
 * Ownership  Strings of struct handshake are its own.
 */
#ifndef ISOSCOPE_HANDSHAKE_H
#define ISOSCOPE_HANDSHAKE_H

#include "packing.h"

#include <stdbool.h>

struct http_request;

enum {
    HANDSHAKE_ACCEPT_BYTES = 29, /* base64 of 20 bytes, and the end */
    HANDSHAKE_SUBPROTOCOL_BYTES = 128,
    HANDSHAKE_EXTENSION_BYTES = 128,
};

struct handshake {
    char accept[HANDSHAKE_ACCEPT_BYTES];           /* Sec-WebSocket-Accept */
    char subprotocol[HANDSHAKE_SUBPROTOCOL_BYTES]; /* "": none was offered */
    char extension[HANDSHAKE_EXTENSION_BYTES];     /* "": none is agreed on */
    struct packing_terms packing;                  /* when extension says so */
};

/* Does the request ask for a WebSocket? */
bool handshake_is_wanted(const struct http_request *request);
/* May it have one, as far as its fields tell? False: they are malformed. */
bool handshake_read(struct handshake *out, const struct http_request *request, bool may_deflate);

#endif
