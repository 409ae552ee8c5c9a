#include "address.h"

#include "../console/log_line.h"
#include "../net/listener.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_port(int *listener, uint16_t *port)
{
    if (listener_open(listener, port) == 0)
        return 0;
    if (errno == EADDRINUSE && !*port)
        log_line("no port is free on 127.0.0.1; --socket PATH needs none");
    else if (errno == EADDRINUSE)
        log_line(
            "port %u is in use on 127.0.0.1; choose another one, or omit --port for a free one",
            *port);
    else
        log_line("cannot listen on port %u of 127.0.0.1: %s", *port, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int open_socket(int *listener, const char *path)
{
    if (listener_open_unix(listener, path) == 0)
        return 0;
    if (errno == EADDRINUSE)
        log_line("another service listens on %s; choose another --socket", path);
    else if (errno == EEXIST)
        log_line("--socket: %s exists and is not a socket", path);
    else
        log_line("cannot listen on %s: %s", path, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int make_token(struct address *address)
{
    uint8_t token[TOKEN_BYTES];

    if (token_random(token) < 0) {
        log_line("cannot get random bytes: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    token_text(address->token, token);
    return 0;
}

int address_open(struct address *out, int *listener, uint16_t port, const char *socket,
                 bool no_token)
{
    int status;

    if (socket) { /* only its owner can connect: a token would add nothing */
        if ((status = open_socket(listener, socket)) < 0)
            return status;
        out->socket = socket;
        snprintf(out->uri, sizeof(out->uri), "unix:%s", socket);
        return 0;
    }
    out->port = port;
    if ((!no_token && (status = make_token(out)) < 0) ||
        (status = open_port(listener, &out->port)) < 0)
        return status;
    snprintf(out->uri, sizeof(out->uri), "http://127.0.0.1:%u/%s%s", out->port, out->token,
             out->token[0] ? "/" : "");
    return 0;
}

void address_close(struct address *address)
{
    if (address->socket)
        unlink(address->socket);
}
