/*
 * service.h - the Dart VM service protocol, text in and text out: no sockets, no threads.
 *
 *   server gives a client's text frames -> client_receive -> handlers -> snapshot.h
 *   client_send -> pieces of text for the socket, as small as the socket wants them
 *
 * Ownership  The service borrows the profile. Clients belong to the service; client_free ends one.
 * Threads    One: the service thread makes every call.
 * Errors     A client's mistakes are answered on the wire. Only out of memory is returned.
 */
#ifndef ISOSCOPE_SERVICE_H
#define ISOSCOPE_SERVICE_H

#include "../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;
struct client;

/* The words of _AttachVia. */
enum service_via { SERVICE_VIA_AUTO, SERVICE_VIA_PERF, SERVICE_VIA_SUSPEND };

/* How a service begins to sample processes that run already; zeroed: it does not. */
struct service_attacher {
    /* False: why it is refused, in words. */
    bool (*attach)(void *context, int32_t pid, enum service_via via, char *problem, size_t size);
    /* False: it was not attached to. */
    bool (*detach)(void *context, int32_t pid);
    /* Tells each process that could be attached to, or is sampled already. */
    void (*others)(void *context, void (*tell)(void *to, int32_t pid, const char *name), void *to);
    void *context;
};

struct process_settings;

/* What is asked of processes and programs, and outlives them and the service; zeroed: nothing does. */
struct service_keeper {
    /* A process was given settings, or they were taken back. */
    void (*process)(void *context, int32_t pid, const struct process_settings *settings);
    /* All of a program, now and later. False: why it is refused, in words. */
    bool (*program)(void *context, const char *program, const struct process_settings *settings,
                    char *problem, size_t size);
    /* Tells what program was given. */
    void (*programs)(void *context,
                     void (*tell)(void *to, const char *program,
                                  const struct process_settings *settings),
                     void *to);
    void *context;
};

/* What services before this one had stored; zeroed: none of it is known. */
struct service_earlier {
    /* Tells session files, the latest first. */
    void (*sessions)(void *context, void (*tell)(void *to, const char *path), void *to);
    void *context;
};

struct service_options {
    struct profile *profile;
    const char *version; /* of isoscope: "0.1.0" */
    /* Clocks come from outside. Of a saved profile clients are told its own. */
    int64_t (*epoch_ms)(void);
    int64_t (*monotonic_us)(void);
    int64_t (*cpu_ns)(void);            /* CPU time of this process; NULL: it is not told */
    const char *const *command;         /* what is run, up to a NULL; NULL: not known */
    bool allow_dds;                     /* a client may become the only one: _yieldControlToDDS */
    int protocol_major, protocol_minor; /* what clients are told; major 0: the protocol's own */
    size_t queue_bytes_max;             /* unsent replies and events of one client; 0: 16 MiB */
    struct service_attacher attacher;
    struct service_keeper keeper;
    struct service_earlier earlier;
    uint32_t rate_max; /* requests of one client in a second; 0: no limit */
};

int service_new(struct service **out, const struct service_options *options);
void service_free(struct service *service); /* ends its clients too; NULL is fine */

/* The profile changed: answers what waited for names, sends events. Call it often; it is cheap.
 * Returns the milliseconds in which it is to be called again though nothing changes; 0: it need not
 * be. */
uint32_t service_poll(struct service *service);

/* Where new clients are to go: a Dart Development Service that is the only client now. NULL: they
 * may come in. An absolute http or ws URI of plain characters; lent until the next call. */
const char *service_dds_uri(const struct service *service);

enum service_output { SERVICE_STDOUT, SERVICE_STDERR };

/* The program wrote these bytes, which need not be text. Of several processes nobody knows which
 * one it was: the first is named, when there is one. */
void service_program_wrote(struct service *service, enum service_output output, const void *bytes,
                           size_t length);

/* A program of this run runs, or ran, without being sampled: getVM tells of it. The same
 * program for the same reason once more has the latest pid, and is counted. Without memory nobody
 * hears of it. */
void service_unsampled(struct service *service, int32_t pid, const char *exe, const char *reason);
/* One of them is sampled after all: it is counted no more. pid: the latest of those that are left.
 */
void service_sampled_after_all(struct service *service, int32_t pid, const char *exe,
                               const char *reason);

/* What the service knows besides the profile, for a session file: a JSON object, from malloc. A
 * service over that file knows it again. NULL: out of memory. */
char *service_state(const struct service *service);

/* All figures in Prometheus' text format (metrics.h), from malloc. NULL: out of memory. */
char *service_metrics(struct service *service, size_t *length);

/* What is asked for below "/debug/pprof/" or "/pprof/". */
/* What a profile is about, in OpenTelemetry's words. */
struct pull_attribute {
    const char *name, *text; /* text NULL: it is a number */
    uint64_t number;
};

/* It is to be a request for an OTLP receiver. */
struct pull_otlp {
    const struct pull_attribute *resource; /* its attributes; looked at during the call */
    size_t resource_count;
    uint8_t id[16]; /* of this profile alone, in all the world */
};

struct pull_request {
    const char *path;             /* behind the token and its slash: "debug/pprof/profile" */
    const char *const *arguments; /* "seconds=5" */
    size_t argument_count;
    int64_t from_us, until_us;    /* not 0: the window, on options.monotonic_us, which has passed */
    const struct pull_otlp *otlp; /* NULL: pprof's format */
    int64_t names_us; /* are waited for so long; 0: as long as who pulls by HTTP would wait */
};

struct pull_answer {
    const char *status; /* "200 OK" */
    const char *type;   /* of what client_send will give */
    bool packed;        /* it is to be packed, for its format has gzip around it */
};

int client_new(struct client **out, struct service *service);
void client_free(struct client *client); /* NULL is fine */

/* It waits for events, answers or calls of its service: it may well be silent. */
bool client_waits(const struct client *client);

/* One whole text message. Its replies are queued; some come later. */
void client_receive(struct client *client, const char *text, size_t length);
/* A request from a URL, its arguments "name=value"; all values are strings. Its id is "", as the
 * VM's. */
void client_receive_get(struct client *client, const char *method, const char *const *arguments,
                        size_t count);
/* A client that pulls one profile, or what belongs to it: what it gets is a message that need be no
 * text. A profile comes when its seconds have passed. Call service_poll afterwards: it says when. */
void client_pull(struct client *client, const struct pull_request *request,
                 struct pull_answer *answer);
/* The same of POST to "symbol": names of addresses ("0x1+0x2") in profiles that were pulled. */
void client_pull_symbols(struct client *client, const char *addresses, size_t length,
                         struct pull_answer *answer);
/* How many entries the profile has that it was given, or begins to be. */
uint32_t client_pulled_samples(const struct client *client);
/*
 * Stalls that have ended and were told, each once, as a request of logs for an OTLP receiver, which is
 * appended to out. epoch_us: between the clocks. Returns how many; out is as it was where there is none.
 */
struct json_text;
struct stall_logs;
struct stall_logs *stall_logs_new(void); /* NULL: out of memory */
void stall_logs_free(struct stall_logs *logs);
size_t stall_logs_take(struct stall_logs *logs, struct service *service,
                       const struct pull_otlp *otlp, int64_t epoch_us, struct json_text *out);
/* One that was seen then had not ended. */
bool stall_logs_wait(const struct stall_logs *logs);

/* From now on names are waited for only so long. */
void client_pull_hurry(struct client *client, int64_t names_us);
/* Its seconds have not passed, or its profile is being made. */
bool client_pulls(const struct client *client);
/* One whole binary message: the protocol closes with 4001. */
void client_receive_binary(struct client *client);

/* True when client_send has something. */
bool client_wants_send(const struct client *client);
/*
 * Fills buffer with the next piece of the oldest message. begins/ends tell whether it is
 * the first/last piece of its message. Returns the bytes; 0 when there is nothing to send.
 * Messages with samples are written while they are sent, so they cost no memory.
 *
 * Each call is a short one, so that others are served between two of them. Where a reply takes
 * long, a call may return 0, or less than size, and client_wants_send stays true: serve others, and
 * call again without waiting for anything.
 */
size_t client_send(struct client *client, char *buffer, size_t size, bool *begins, bool *ends);

/* The client must go: code is the WebSocket close code (4000-4002, 1008 when its queue is full,
 * 1011 out of memory), reason at most 120 bytes. False while it may stay. */
bool client_closing(const struct client *client, uint16_t *code, const char **reason);

#endif
