/*
 * hub.h - one profile and everything that serves it: the feed's socket, the port, the clients.
 *
 * `run` starts a program beside it, in another process.
 *
 * Ownership  hub_close ends it all: clients first, then the feeds, then the profile.
 * Threads    The service thread; the profile brings two of its own.
 * Errors     Said on stderr; 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_HUB_H
#define ISOSCOPE_HUB_H

#include "access.h"
#include "token.h"

#include "../sampler/feed/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feed_socket;
struct loop;
struct profile;
struct web;

struct hub_options {
    const char *feed_path; /* where programs hand in their feeds */
    uint16_t port;         /* 0: a free one */
    const char *socket;    /* a unix socket instead of a port; NULL: none */
    bool no_token;
    struct access_rules access;
    bool allow_dds;
    uint32_t rate_max; /* requests of one client in a second */
    int patience_seconds;
    bool deflate;
    uint32_t period_us;
    uint32_t depth_max;
    enum feed_mode mode;
    size_t history_bytes; /* bound of the samples kept */
    bool enabled;
    bool debuginfod;
    bool no_symbols;
    const char *source_root;                /* NULL: none */
    uint8_t protocol_major, protocol_minor; /* 0: the protocol's own */
};

struct hub {
    struct wake *wake;
    struct profile *profile;
    struct service *service;
    struct web *web;
    struct loop *loop;
    struct feed_socket *feed;
    uint16_t port;
    char token[TOKEN_TEXT_BYTES];
    char uri[128];      /* "http://127.0.0.1:PORT/TOKEN=/" or "unix:/run/iso.sock" */
    const char *socket; /* ours, to be removed; NULL: none */
};

/* Serves when it returns 0. *hub is all zeros before. hub_close also after a failure. */
int hub_open(struct hub *hub, const struct hub_options *options);
void hub_close(struct hub *hub);

/* Our child has ended: takes what programs have sent until now, and tells the clients. */
void hub_exited(struct hub *hub, pid_t pid, int wait_status);

#endif
