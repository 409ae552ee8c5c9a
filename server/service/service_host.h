/*
 * service_host.h - one profile and everything that serves it: the feed's socket or the session
 * files, the port, the clients.
 *
 * `run` starts a program beside it, in another process. `serve` has files, and no program.
 *
 * Ownership  service_host_close ends it all: clients first, then the feeds, then the profile.
 * Threads    The service thread; the profile brings two of its own.
 * Errors     Said on stderr; 0 or a negative isoscope_error: -ISOSCOPE_INVALID where a session file
 *            is none, or is damaged.
 */
#ifndef ISOSCOPE_SERVICE_HOST_H
#define ISOSCOPE_SERVICE_HOST_H

#include "../net/web.h"
#include "address.h"
#include "stall_options.h"

#include "../../protocol/service.h"
#include "../../sampler/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct feed_socket;
struct loop;

struct service_host_options {
    const char *feed_path; /* where programs hand in their feeds; NULL: a saved profile, or */
    const char
        *tables_path; /* another process takes feeds, and clients at its address; their file */
    const struct address *address;
    const char *const *files; /* of that: session files */
    size_t file_count;
    unsigned align;     /* their enum saved_align */
    bool outside;       /* as in feed_socket.h, and the next two */
    const uid_t *users; /* their programs map the tables, too */
    size_t user_count;
    bool deaf;          /* nothing listens, so there are no clients */
    uint16_t port;      /* 0: a free one */
    const char *socket; /* a unix socket instead of a port; NULL: none */
    bool no_token;
    struct profile_options profile; /* all but where its tables are, and whom it wakes */
    struct stall_options stalls;    /* its settings, of a live profile */
    struct service_options service; /* all but its profile, version and clocks */
    struct web_options web;         /* all but its service and token */
};

struct service_host {
    struct wake *wake;
    struct profile *profile;
    struct service *service;
    struct web *web;
    struct loop *loop;
    struct feed_socket *feed; /* NULL: a saved profile */
    struct address address;
    void (*changed)(void *context); /* something in the profile has; may be set when it is open */
    void *context;
};

/* Serves when it returns 0. *host is all zeros before. service_host_close also after a failure. */
int service_host_open(struct service_host *host, const struct service_host_options *options);
void service_host_close(struct service_host *host);

/* Our child has ended: takes what programs have sent until now, and tells the clients. */
void service_host_exited(struct service_host *host, const struct profile_exit *end);

#endif
