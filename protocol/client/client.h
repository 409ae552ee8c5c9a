/*
 * client.h - what is behind service.h: what is held for a client, and for all of them.
 *
 *   client.c: its queue, its end; events/: what it hears; handlers/: answers; service.c: all of it
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_CLIENT_H
#define ISOSCOPE_CLIENT_H

#include "flags.h"
#include "../isolates/isolates.h"
#include "../pprof/pprof_places.h"
#include "../rpc/outbox.h"
#include "../rpc/rpc.h"
#include "../service.h"
#include "../timeline/trace_events.h"
#include "../../sampler/profile/timeline.h"

#define SERVICE_VM_NAME "isoscope" /* until a client gives another */

enum {
    ID_ZONES_MAX = 32,
    CLOSE_REASON_MAX = 120, /* a WebSocket close frame holds 123 bytes of it */
};

enum close_code {
    CLOSE_NORMAL = 1000,
    CLOSE_POLICY = 1008,
    CLOSE_NO_MEMORY = 1011,
    CLOSE_NO_JSON = 4000,
    CLOSE_BINARY = 4001,
    CLOSE_NO_MAP = 4002,
};

struct histories;
struct loss_log;
struct metrics;
struct offers;
struct pull;
struct stall_events;
struct tagged_samples;

/* Where a listener to the stream Timeline is: events/timeline_events.h. */
struct timeline_reader {
    struct timeline_cursor cursor;
    int64_t told_us;
    bool more; /* there may be: it goes on in another turn, when there is room */
};

/* Where all listeners to frames are: events/frame_events.h. */
struct frame_reader {
    struct timeline_cursor cursor;
    uint32_t posted; /* events behind it, already; two of each frame */
    bool heard;      /* somebody listens */
    int64_t looked_us;
};

struct service {
    struct service_options options;
    struct isolates isolates;
    isolates_changed *isolate_changed; /* hears of them; its context is the service */
    struct flags flags;
    struct client *clients;
    unsigned client_number; /* of the next one */
    struct histories *histories;
    struct loss_log *loss_log;
    uint64_t log_records; /* of Logging, until now */
    struct stall_events *stall_events;
    struct metrics *metrics;       /* NULL: nobody asked yet */
    struct pprof_places places;    /* in profiles that are pulled */
    unsigned pulls_at_work;        /* PULLS_AT_WORK_MAX at most */
    int64_t monotonic_to_epoch_ms; /* taken once: else start times would dither */
    int64_t start_ms;
    bool saved;                /* the profile is of session files: saved.h */
    char target_cpu[16];       /* of the programs */
    uint64_t symbols_finished; /* that clients have been told of */
    bool wakes;                /* the profile calls for what is new: profile_follow */
    bool follows;              /* somebody listens to Profiler */
    uint64_t events_told;      /* as samples_told, of the timeline */
    int64_t events_told_us;
    struct frame_reader frames;
    uint64_t stalls_told; /* the change that the last _StallsAvailable told of */
    int64_t stalls_told_us;
    uint32_t stall_clears;
    struct written_samples written[WRITTEN_SAMPLES_MAX]; /* _writeCpuProfileTimeline */
    unsigned written_count;
    uint64_t samples_told; /* that were there at the last _SamplesAvailable */
    int64_t samples_told_us;
    int64_t allocations_since_us; /* their accumulators were reset then; 0: never */
    json_t *unsampled;            /* _Unsampled; NULL: none yet */
    char host_cpu[128];
    char vm_name[128];
    json_t *chosen_streams; /* names, in a saved session; NULL: none was chosen yet */
    bool user_resumes_start, user_resumes_exit; /* requireUserPermissionToResume */
    struct client *dds;   /* the Dart Development Service that has taken over; NULL: none */
    char *dds_uri;        /* its own */
    int64_t refreshed_us; /* when service_poll last looked at all processes */
    int64_t work;         /* that is left in this turn: work.h */
    uint64_t polls;       /* calls of service_poll: what a handler waits for may have come */
    int64_t poll_in_us;   /* the next one is to come then, though nothing changes; 0: it need not */
};

struct id_zones {
    unsigned numbers[ID_ZONES_MAX];
    unsigned count, made;
};

struct client {
    struct service *service;
    struct client *next, **link; /* in service->clients; link: what points here */
    struct outbox outbox;
    uint32_t streams;      /* 1 << enum stream_id */
    uint32_t replayed;     /* streams whose history it was sent */
    unsigned number;       /* in the order they came */
    struct offers *offers; /* methods, to the others */
    struct tagged_samples *tagged;
    struct timeline_reader timeline;
    char *name; /* NULL: "client<number>" */
    struct id_zones zones;
    struct pull *pull;       /* NULL: it pulls no profile */
    struct request *waiting; /* for names, or for room in the outbox; oldest first */
    unsigned waiting_count;
    struct rpc_failure failure; /* of its handler */
    int64_t second_us;          /* when its second began in which requests are counted */
    uint32_t second_requests;
    bool by_get;           /* it is one request from a URL: no events */
    bool dismissed;        /* closing, after what it is owed */
    uint16_t closing_code; /* 0: it may stay */
    char closing_reason[CLOSE_REASON_MAX + 1];
};

/* Behind all events of the timeline that there are: who begins to listen. */
struct timeline_cursor timeline_end(const struct service *service);
/* Looks who came and went. 0 or -ISOSCOPE_NO_MEMORY. */
int service_refresh(struct service *service);
/* In service_poll: something is held back, and can be told in so many microseconds. */
void service_poll_in(struct service *service, int64_t us);

/* Takes over text; NULL (no memory left to make it) closes the client. */
void client_push_text(struct client *client, char *text);
/* What another client sends to this one: it never closes it. Who sends asks for room before. */
void client_push_others_text(struct client *client, char *text);
bool client_has_room(const struct client *client, size_t length);
void client_close(struct client *client, enum close_code code, const char *reason);
/* The same, but what it is owed goes out before. */
void client_dismiss(struct client *client, enum close_code code, const char *reason);

static inline int64_t service_epoch_ms(const struct service *service, int64_t monotonic_us)
{
    return service->monotonic_to_epoch_ms + monotonic_us / 1000;
}

#endif
