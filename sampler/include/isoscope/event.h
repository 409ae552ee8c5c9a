/*
 * event.h - what the program is about, on the clock of its samples: slices, instants, counters,
 * flows, frames. A part of isoscope.h; in C++ event.hpp makes it shorter.
 *
 *     ISOSCOPE_SCOPE("Embedder", "layout");         a slice until the end of the block
 *
 *     ISOSCOPE_BEGIN_WITH("GC", "mark", ISOSCOPE_UINT("bytes", heap_bytes));
 *     ...
 *     ISOSCOPE_END("GC");
 *
 *     ISOSCOPE_COUNTER("VM", "heap", ISOSCOPE_UINT("used", used), ISOSCOPE_UINT("free", rest));
 *
 * An event is one write into a ring of its thread's. It belongs to a stream, which clients switch on
 * and off: Dart, GC, Embedder, Compiler, API, VM, or one by the program's own name (57 of those;
 * what comes later is in the stream "others"). All are on at first. Where its stream is off, or no
 * sampler runs, an event costs a load and a branch, and its arguments are not evaluated.
 *
 * Names      UTF-8; 255 bytes of them are kept. isoscope keeps those of a site and of its arguments
 *            after their first use, so they never change: string literals, or what lives for good.
 *            A text that is an argument's value is copied: 4,096 bytes, 8,192 of a whole event.
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Threads    Any. One made with a raw clone that has no thread-local memory of its own must not use
 *            events.
 * Signals    All calls are signal-safe.
 * Errors     None. An event that finds its thread's ring full is lost, and so is one of a signal
 *            handler that came into the middle of another; clients are shown how many.
 */
#ifndef ISOSCOPE_EVENT_H
#define ISOSCOPE_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ISOSCOPE_API
#define ISOSCOPE_API __attribute__((visibility("default")))
#endif

/* A place in the code that tells events of one name: static, or what is never freed. */
struct isoscope_site {
    const char *stream, *name;
    uint64_t known;   /* isoscope's; 0 at first */
    uint64_t streams; /* isoscope's; all ones at first */
    uint32_t argument_names[4];
};
/* Its initializer. */
#define ISOSCOPE_SITE(stream, name)                                                                \
    {                                                                                              \
        stream, name, 0, ~(uint64_t)0,                                                             \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

enum isoscope_argument_type {
    ISOSCOPE_IS_INT,
    ISOSCOPE_IS_UINT,
    ISOSCOPE_IS_DOUBLE,
    ISOSCOPE_IS_TEXT,
};

/* One of up to four; of its values the one that its type says. */
struct isoscope_argument {
    const char *name;
    uint32_t type;    /* isoscope_argument_type */
    int64_t integer;  /* INT; UINT: the same bits */
    double number;    /* DOUBLE */
    const char *text; /* TEXT: 0-terminated; NULL: "" */
};
/* Initializers of one, for the macros below. */
#define ISOSCOPE_INT(name, value)                                                                  \
    {                                                                                              \
        name, ISOSCOPE_IS_INT, (int64_t)(value), 0, 0                                              \
    }
#define ISOSCOPE_UINT(name, value)                                                                 \
    {                                                                                              \
        name, ISOSCOPE_IS_UINT, (int64_t)(value), 0, 0                                             \
    }
#define ISOSCOPE_DOUBLE(name, value)                                                               \
    {                                                                                              \
        name, ISOSCOPE_IS_DOUBLE, 0, (double)(value), 0                                            \
    }
#define ISOSCOPE_TEXT(name, value)                                                                 \
    {                                                                                              \
        name, ISOSCOPE_IS_TEXT, 0, 0, value                                                        \
    }

enum isoscope_event_kind {
    ISOSCOPE_EVENT_BEGIN,    /* a slice begins in this thread */
    ISOSCOPE_EVENT_END,      /* the one that it began last in this stream ends */
    ISOSCOPE_EVENT_COMPLETE, /* a slice at once, from start_ns on, for duration_ns */
    ISOSCOPE_EVENT_INSTANT,
    ISOSCOPE_EVENT_ASYNC_BEGIN, /* what any threads do together, known by its id */
    ISOSCOPE_EVENT_ASYNC_INSTANT,
    ISOSCOPE_EVENT_ASYNC_END,
    ISOSCOPE_EVENT_FLOW_BEGIN, /* an arrow, from the slice that stands open in this thread, */
    ISOSCOPE_EVENT_FLOW_STEP,  /* through others, */
    ISOSCOPE_EVENT_FLOW_END,   /* to the one that stands open here; known by its id */
    ISOSCOPE_EVENT_COUNTER,    /* each argument is a series, with its value from now on */
};

/* What an event is besides its site; what its kind does not need is not looked at. */
struct isoscope_event {
    uint32_t struct_size;           /* sizeof(struct isoscope_event) */
    uint32_t kind;                  /* isoscope_event_kind */
    uint64_t id;                    /* ASYNC_*, FLOW_* */
    uint64_t start_ns, duration_ns; /* COMPLETE */
    const struct isoscope_argument *arguments;
    uint32_t argument_count; /* those beyond the fourth are left out */
};

/* A picture that was made. */
struct isoscope_frame {
    uint32_t struct_size; /* sizeof(struct isoscope_frame) */
    uint32_t has_parts;   /* 0: build, raster and vsync overhead are not known */
    uint64_t number;
    uint64_t start_ns, elapsed_ns;
    uint64_t build_ns, raster_ns, vsync_overhead_ns;
};

/* Streams that are on: the bits that their sites have. 0: no sampler runs. */
ISOSCOPE_API extern uint64_t isoscope_streams;

ISOSCOPE_API void isoscope_event_begin(struct isoscope_site *site,
                                       const struct isoscope_argument *arguments, uint32_t count);
/* Of the site only the stream is looked at. */
ISOSCOPE_API void isoscope_event_end(struct isoscope_site *site);
ISOSCOPE_API void isoscope_event_tell(struct isoscope_site *site,
                                      const struct isoscope_event *event);
/* In the stream Embedder. */
ISOSCOPE_API void isoscope_event_frame(const struct isoscope_frame *frame);
/* What ends a scope: *site's slice, unless it is NULL. */
ISOSCOPE_API void isoscope_event_leave(struct isoscope_site **site);
/* The time of an event that is told now. */
ISOSCOPE_API uint64_t isoscope_event_now_ns(void);

#ifdef __cplusplus
}
#endif

#define ISOSCOPE_STREAMS_ON __atomic_load_n(&isoscope_streams, __ATOMIC_RELAXED)
#define ISOSCOPE_IS_ON(site)                                                                       \
    ((ISOSCOPE_STREAMS_ON & __atomic_load_n(&(site)->streams, __ATOMIC_RELAXED)) != 0)

/* ---- what a program writes ----
 *
 * stream and name are string literals. What ends in _WITH has one to four arguments.
 */

#define ISOSCOPE_BEGIN(stream, name)                                                               \
    do {                                                                                           \
        static struct isoscope_site isoscope_site_ = ISOSCOPE_SITE(stream, name);                  \
                                                                                                   \
        if (ISOSCOPE_IS_ON(&isoscope_site_))                                                       \
            isoscope_event_begin(&isoscope_site_, 0, 0);                                           \
    } while (0)
#define ISOSCOPE_BEGIN_WITH(stream, name, ...)                                                     \
    do {                                                                                           \
        static struct isoscope_site isoscope_site_ = ISOSCOPE_SITE(stream, name);                  \
                                                                                                   \
        if (ISOSCOPE_IS_ON(&isoscope_site_)) {                                                     \
            const struct isoscope_argument isoscope_arguments_[] = { __VA_ARGS__ };                \
                                                                                                   \
            isoscope_event_begin(&isoscope_site_, isoscope_arguments_,                             \
                                 ISOSCOPE_COUNT_(isoscope_arguments_));                            \
        }                                                                                          \
    } while (0)
#define ISOSCOPE_END(stream)                                                                       \
    do {                                                                                           \
        static struct isoscope_site isoscope_site_ = ISOSCOPE_SITE(stream, "");                    \
                                                                                                   \
        if (ISOSCOPE_IS_ON(&isoscope_site_))                                                       \
            isoscope_event_end(&isoscope_site_);                                                   \
    } while (0)

/* A slice until the end of the block, however it is left. It is a declaration. */
#define ISOSCOPE_SCOPE(stream, name) ISOSCOPE_SCOPE_(__COUNTER__, stream, name)

/* A slice that is known when it has ended. */
#define ISOSCOPE_COMPLETE(stream, name, start_ns, duration_ns)                                     \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_COMPLETE, 0, start_ns, duration_ns)
#define ISOSCOPE_COMPLETE_WITH(stream, name, start_ns, duration_ns, ...)                           \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_COMPLETE, 0, start_ns, duration_ns,           \
                        __VA_ARGS__)
#define ISOSCOPE_INSTANT(stream, name) ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_INSTANT, 0, 0, 0)
#define ISOSCOPE_INSTANT_WITH(stream, name, ...)                                                   \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_INSTANT, 0, 0, 0, __VA_ARGS__)
/* One to four series. */
#define ISOSCOPE_COUNTER(stream, name, ...)                                                        \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_COUNTER, 0, 0, 0, __VA_ARGS__)
/* Any threads; what has the same stream, name and id belongs together. */
#define ISOSCOPE_ASYNC_BEGIN(stream, name, id)                                                     \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_ASYNC_BEGIN, id, 0, 0)
#define ISOSCOPE_ASYNC_BEGIN_WITH(stream, name, id, ...)                                           \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_ASYNC_BEGIN, id, 0, 0, __VA_ARGS__)
#define ISOSCOPE_ASYNC_INSTANT(stream, name, id)                                                   \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_ASYNC_INSTANT, id, 0, 0)
#define ISOSCOPE_ASYNC_INSTANT_WITH(stream, name, id, ...)                                         \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_ASYNC_INSTANT, id, 0, 0, __VA_ARGS__)
#define ISOSCOPE_ASYNC_END(stream, name, id)                                                       \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_ASYNC_END, id, 0, 0)
#define ISOSCOPE_ASYNC_END_WITH(stream, name, id, ...)                                             \
    ISOSCOPE_TELL_WITH_(stream, name, ISOSCOPE_EVENT_ASYNC_END, id, 0, 0, __VA_ARGS__)
#define ISOSCOPE_FLOW_BEGIN(stream, name, id)                                                      \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_FLOW_BEGIN, id, 0, 0)
#define ISOSCOPE_FLOW_STEP(stream, name, id)                                                       \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_FLOW_STEP, id, 0, 0)
#define ISOSCOPE_FLOW_END(stream, name, id)                                                        \
    ISOSCOPE_TELL_(stream, name, ISOSCOPE_EVENT_FLOW_END, id, 0, 0)

/* ---- what they are made of ---- */

#define ISOSCOPE_JOIN__(a, b) a##b
#define ISOSCOPE_JOIN_(a, b)  ISOSCOPE_JOIN__(a, b)
/* Does not compile where there are more than four. */
#define ISOSCOPE_COUNT_(arguments)                                                                 \
    ((uint32_t)(sizeof(arguments) / sizeof((arguments)[0]) +                                       \
                0 * sizeof(char[sizeof(arguments) <= 4 * sizeof((arguments)[0]) ? 1 : -1])))

#define ISOSCOPE_SCOPE_(number, stream, name)                                                      \
    static struct isoscope_site ISOSCOPE_JOIN_(isoscope_site_, number) =                           \
        ISOSCOPE_SITE(stream, name);                                                               \
    __attribute__((cleanup(isoscope_event_leave), unused)) struct isoscope_site *ISOSCOPE_JOIN_(   \
        isoscope_scope_, number) =                                                                 \
        ISOSCOPE_IS_ON(&ISOSCOPE_JOIN_(isoscope_site_, number))                                    \
            ? (isoscope_event_begin(&ISOSCOPE_JOIN_(isoscope_site_, number), 0, 0),                \
               &ISOSCOPE_JOIN_(isoscope_site_, number))                                            \
            : 0

#define ISOSCOPE_TELL_(stream, name, kind, id, start_ns, duration_ns)                              \
    do {                                                                                           \
        static struct isoscope_site isoscope_site_ = ISOSCOPE_SITE(stream, name);                  \
                                                                                                   \
        if (ISOSCOPE_IS_ON(&isoscope_site_)) {                                                     \
            const struct isoscope_event isoscope_event_ = {                                        \
                sizeof isoscope_event_, kind, id, start_ns, duration_ns, 0, 0                      \
            };                                                                                     \
                                                                                                   \
            isoscope_event_tell(&isoscope_site_, &isoscope_event_);                                \
        }                                                                                          \
    } while (0)
#define ISOSCOPE_TELL_WITH_(stream, name, kind, id, start_ns, duration_ns, ...)                    \
    do {                                                                                           \
        static struct isoscope_site isoscope_site_ = ISOSCOPE_SITE(stream, name);                  \
                                                                                                   \
        if (ISOSCOPE_IS_ON(&isoscope_site_)) {                                                     \
            const struct isoscope_argument isoscope_arguments_[] = { __VA_ARGS__ };                \
            const struct isoscope_event isoscope_event_ = { sizeof isoscope_event_,                \
                                                            kind,                                  \
                                                            id,                                    \
                                                            start_ns,                              \
                                                            duration_ns,                           \
                                                            isoscope_arguments_,                   \
                                                            ISOSCOPE_COUNT_(                       \
                                                                isoscope_arguments_) };            \
                                                                                                   \
            isoscope_event_tell(&isoscope_site_, &isoscope_event_);                                \
        }                                                                                          \
    } while (0)

#endif
