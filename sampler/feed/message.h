/*
 * message.h - what travels over the feed's unix socket (SOCK_SEQPACKET), besides the memory.
 *
 *   program: hello (+ by SCM_RIGHTS the feed's memfd, and its user clock and its event of page faults
 *   if it has them), and the end of the socket. The service answers nothing: settings stand in feed_control.
 *
 * The address comes to the program in ISOSCOPE_SOCKET. Nobody else's processes reach it: it lies in
 * a folder of the user's own, and the service looks whose process calls. A program whose hello is
 * refused or unanswered runs on untouched.
 *
 *   isoscope: ask; the service of many users (server/host) answers with lines of text
 *
 * The socket of such a service is for everybody, and each caller gets what is his.
 */
#ifndef ISOSCOPE_MESSAGE_H
#define ISOSCOPE_MESSAGE_H

#include <stdint.h>

#define FEED_ENV_SOCKET  "ISOSCOPE_SOCKET"
#define FEED_ENV_PERIOD  "ISOSCOPE_PERIOD_US" /* until the service says otherwise */
#define FEED_ENV_TIMER   "ISOSCOPE_TIMER"     /* a word of FEED_TIMER_WISHES; empty: auto */
#define FEED_ENV_ENABLED "ISOSCOPE_ENABLED"   /* "0": start paused */
/* Of them one allocation is sampled, on average, until the service says otherwise. */
#define FEED_ENV_ALLOC  "ISOSCOPE_ALLOC"
#define FEED_ENV_LOCK   "ISOSCOPE_LOCK"   /* the same of time waited, in microseconds */
#define FEED_ENV_FAULTS "ISOSCOPE_FAULTS" /* and of page faults, for as long as the program runs */
/* A word of FEED_WATCHES; empty, or none of them: auto. */
#define FEED_ENV_WATCH_LOOPS "ISOSCOPE_WATCH_LOOPS"

enum {
    FEED_MESSAGE_MAGIC = 0x6d6f7369, /* "isom" */
    FEED_EXE_BYTES = 512,
};

enum feed_message_type {
    FEED_MESSAGE_HELLO = 1,
    FEED_MESSAGE_ASK = 2, /* by a client: where is the service's page? head alone */
};

/* Of an ask, for clients and feeds change at different times. */
enum { FEED_ASK_VERSION = 1 };

enum feed_origin {
    FEED_ORIGIN_EXEC = 1, /* a program that started with the sampler in it */
    FEED_ORIGIN_FORK = 2, /* a forked child, before any exec */
};

enum {
    FEED_HELLO_CLOCK = 1,
    FEED_HELLO_FAULTS = 2,
};

struct feed_message {
    uint32_t magic;
    uint16_t version; /* FEED_VERSION, or FEED_ASK_VERSION */
    uint16_t type;    /* feed_message_type */
};

struct feed_hello {
    struct feed_message head;
    int32_t pid, ppid; /* as the program sees them; the socket's credentials decide */
    uint32_t origin;   /* feed_origin */
    uint32_t events;   /* FEED_HELLO_*: descriptors that come behind the memfd, in this order */
    char exe[FEED_EXE_BYTES]; /* /proc/self/exe; 0-terminated */
};

#endif
