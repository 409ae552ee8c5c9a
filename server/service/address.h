/*
 * address.h - where a service listens, and the token that lets clients in.
 *
 * Errors     Said on stderr; 0 or -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_ADDRESS_H
#define ISOSCOPE_ADDRESS_H

#include "../http/token.h"

#include <stdbool.h>
#include <stdint.h>

struct address {
    uint16_t port;                /* 0: it is a socket */
    char token[TOKEN_TEXT_BYTES]; /* "": none is asked for */
    char uri[128];                /* "http://127.0.0.1:PORT/TOKEN=/" or "unix:/run/iso.sock" */
    const char *socket;           /* ours, to be removed; NULL: none */
};

/* port: 0 for a free one. socket: instead of it; lent for good; NULL: none. *listener is the
 * caller's. */
int address_open(struct address *out, int *listener, uint16_t port, const char *socket,
                 bool no_token);
void address_close(struct address *address);

#endif
