/*
 * snapshot.h - the door from the wire to a profile, live or (one day) saved: all that is read.
 *
 *   collector -> store -> snapshot -> protocol/
 *
 * A snapshot is an immutable window: its samples, and the functions and libraries they use,
 * named, deduplicated and counted. It holds on to the memory it shows, however the store goes on.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds. depth: frames. Process ids: see process_info.
 * Ownership  snapshot_take makes, snapshot_free releases; all pointers live until then.
 * Threads    Every call here is for any thread; one snapshot is used by one thread at a time.
 * Errors     0 or a negative isoscope_error; out stays untouched on failure.
 */
#ifndef ISOSCOPE_SNAPSHOT_H
#define ISOSCOPE_SNAPSHOT_H

#include "../feed/feed_reader.h"
#include "outside/process_place.h"
#include "runtimes.h"
#include "work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct snapshot;

/* A process that feeds, or has fed, the profile. */
struct process_info {
    uint64_t id; /* the pid; pid + k * 10,000,000 for the k-th later program with that pid */
    int32_t pid, ppid;
    char name[64]; /* last part of exe */
    char exe[512];
    int64_t start_us; /* when the sampler came up in it */
    int64_t end_us;   /* when its end was first seen; 0 while it lives */
    /* Counts the ends in the order in which they are shown, which is not always that of their
     * times: how the started program came to its end is waited for. 0 while it lives. */
    uint64_t end_number;
    bool live;
    bool enabled;       /* it is sampled, as far as it lets itself */
    uint32_t period_us; /* as asked, of this process */
    bool started;       /* the program that isoscope run started, or what it became by exec */
    bool exit_known;    /* of an ended one; we are its parent */
    int wait_status;    /* how it ended, as waitpid says it */
    uint64_t samples;   /* of time, in their store now */
    uint64_t others;    /* of allocations, waits, page faults, in theirs */
    uint64_t evicted;   /* samples that the bounded store let go */
    uint64_t corrupt;   /* records of the feed that could not be true */
    uint64_t unstored;  /* samples that found no memory, or told of a thread too late */
    uint32_t
        runtimes; /* that make code which ends stacks, and whose frames are not shown: runtimes.h */
    char unknown_runtime[128]; /* why the frames of one are not shown, with its name; "": of none */
    struct process_place place;          /* where on its machine it lived when its feed began */
    char place_label[PLACE_LABEL_BYTES]; /* that for people; "": nowhere in particular */
    struct feed_status_view status;
};

/* In order of arrival. Returns how many there are; fills at most capacity. */
size_t profile_processes(struct profile *profile, struct process_info *out, size_t capacity);
bool profile_process(struct profile *profile, uint64_t process_id, struct process_info *out);
/* While it stands, profile_processes and profile_threads tell what they told: ask it before them.
 * It only grows, from 1 on. */
uint64_t profile_version(struct profile *profile);

/* CPU time of all processes that ever had a feed, those that are shown no longer too. One that
 * went on as another program by exec is one. */
struct profile_cpu {
    uint64_t processes;
    uint64_t sampled_ns;     /* that samples stand for */
    uint64_t not_sampled_ns; /* of these processes, and in no sample */
    /* The kernel's figure of the program that was started and of all that was waited for below it.
     * What it has more is time of processes without a feed. 0: it has not ended. */
    uint64_t tree_ns;
};

struct profile_cpu profile_cpu(struct profile *profile);

/* What the bounded store of SAMPLES_OF_TIME has of all processes; its oldest samples go first, of
 * processes that have more than their share. */
struct profile_history {
    size_t bytes, bytes_max;
    int64_t first_us, last_us; /* of the samples in it; 0: none */
};

struct profile_history profile_history(struct profile *profile);

/* A thread that has left samples. */
struct profile_thread {
    int32_t tid;
    char name[16];
    uint64_t samples; /* in the store now */
};

/* Those of one process, the latest to have samples first; fills at most capacity. Returns how many;
 * capacity + 1: there are more. */
size_t profile_threads(struct profile *profile, uint64_t process_id, struct profile_thread *out,
                       size_t capacity);

/* What is asked of all processes of the profile, and of those to come. */
struct feed_settings profile_settings(struct profile *profile);

/* The word that a sample goes by when users group them: what the program said it was doing, else
 * who did it. */
static inline const char *snapshot_user_tag(const char *tag, const char *thread_name)
{
    if (tag)
        return tag;
    return thread_name && *thread_name ? thread_name : "Default";
}

/* Tells each user tag that a sample in the store has, some of them more than once. 0 or
 * -ISOSCOPE_NO_MEMORY. */
int profile_user_tags(struct profile *profile, void (*found)(void *context, const char *user_tag),
                      void *context);

/* Samples in the store by state: counts[FEED_STATE_COUNT] are those of a number above. tid 0: of
 * every thread. 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_NOT_FOUND. */
int profile_states(struct profile *profile, uint64_t process_id, int32_t tid,
                   uint64_t counts[FEED_STATE_COUNT + 1]);

/* Modules that were asked about since the start, and those for which all is answered. */
struct profile_symbols {
    uint32_t done, asked;
    uint64_t finished; /* grows when more is known */
};

struct profile_symbols profile_symbols(struct profile *profile);

/* What samples count. Each kind has a store of its own, and a window shows one kind. */
enum sample_kind {
    SAMPLES_OF_TIME,   /* CPU time and rounds of wall mode, of which wall mode's shares need both */
    SAMPLES_OF_STALLS, /* looks at threads that slept while a loop was late: they stand for no time */
    SAMPLES_OF_ALLOCATIONS, /* sampled by bytes: what they stand for, of all that was allocated */
    SAMPLES_OF_LIVE, /* those of them that have not been freed, by the time of their allocation */
    /* Sampled by the time waited, of all that was; their leaf is what was waited for: */
    SAMPLES_OF_LOCKS,  /* a lock that another thread had */
    SAMPLES_OF_WAITS,  /* something else that another thread was to do */
    SAMPLES_OF_FAULTS, /* page faults: one of so many stands for all of them */
    SAMPLE_KINDS,
};

/* Their samples stand for bytes and objects, not for time. */
static inline bool sample_kind_is_memory(enum sample_kind kind)
{
    return kind == SAMPLES_OF_ALLOCATIONS || kind == SAMPLES_OF_LIVE;
}

/* For nanoseconds waited, and waits. */
static inline bool sample_kind_is_waits(enum sample_kind kind)
{
    return kind == SAMPLES_OF_LOCKS || kind == SAMPLES_OF_WAITS;
}

/* Each stands for many: objects, waits, or page faults, which are its weight, too. */
static inline bool sample_kind_is_many(enum sample_kind kind)
{
    return sample_kind_is_memory(kind) || sample_kind_is_waits(kind) || kind == SAMPLES_OF_FAULTS;
}

/* What a thread waited for. */
struct sample_wait {
    int32_t holder; /* the thread that had it when the wait began, by tid; 0: not known */
    uint8_t what;   /* feed_wait */
};

/* How far somebody has read, in the order in which samples of a kind came; zeroed: nothing yet. */
struct snapshot_cursor {
    uint64_t chunk;
    uint32_t sample;
};

struct snapshot_window {
    enum sample_kind kind;
    uint64_t process_id; /* 0: every process */
    int32_t tid;         /* of that process; 0: every thread */
    /* Only those with one of these, up to a NULL; NULL: all. */
    const char *const *user_tags;
    /* Only what came behind it, of which count_max are the first that came; NULL: not asked. */
    const struct snapshot_cursor *since;
    bool bounded;                 /* false: origin and extent are not looked at */
    int64_t origin_us, extent_us; /* both ends belong to it */
    uint64_t count_max;           /* the oldest so many; 0: all */
    bool partial_names_ok;        /* at once, with the names and lines that are known by now */
    /* For clients that can only count: each sample is told as often as the periods of CPU time it
     * stands for (never, where that is much less than one), no two at one time. The period is the
     * one that the process' timer can keep. */
    bool counted;
};

/*
 * 0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND (no such process), or -ISOSCOPE_PENDING: names or
 * lines are being read on the symbol worker; profile_options.changed is called when they are there,
 * and once or more before. A window that takes what is available is never pending.
 */
int snapshot_take(struct snapshot **out, struct profile *profile,
                  const struct snapshot_window *window);

/* The same in turns, for it takes as long as there are samples. After snapshot_begin nothing but
 * snapshot_step and snapshot_free may be called, until snapshot_step says 0, then and ever
 * after. 1: call it again. */
int snapshot_begin(struct snapshot **out, struct profile *profile,
                   const struct snapshot_window *window);
int snapshot_step(struct snapshot *snapshot, int64_t *work);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */
void snapshot_freep(struct snapshot **snapshot);

/* One module. */
struct snapshot_library {
    char id[32];      /* stable for the life of the profile: "libraries/3" */
    const char *path; /* "/usr/bin/python3.11"; "[vdso]"; "[unknown]" for code in no module */
    const char *name; /* last part of path */
    char build_id[2 * FEED_BUILD_ID_MAX + 1]; /* hex; "" when there is none */
    uint64_t load_bias; /* address - offset, in the process that had it last; 0: not known */
    /* Its code: code_bytes from code_offset on, at code_file_offset in its file, which begins at
     * base; 0: not known. */
    uint64_t code_offset, code_bytes, code_file_offset, base;
    const char *reason; /* why its functions have no names; NULL: they have, or nobody asked */
    const char *lines_reason; /* why they have no lines; NULL: they have, or nobody asked */
    bool system;              /* lies under /lib, /usr/lib, ... : not the user's own code */
    /* Of a file whose functions a runtime runs: its word, "python"; NULL: machine code. */
    const char *runtime;
    /* Then, of one that was installed with the runtime or as a package: where it stands among those,
     * "json/decoder.py", a part of path; NULL: it was not, or in no file. */
    const char *package;
    const char
        *runs; /* it is a runtime itself: the word of the functions that it runs; NULL: none */
};

/* The words are for the wire. */
#define SNAPSHOT_KINDS(X)                                                                          \
    X(NATIVE, "Native")                                                                            \
    X(STUB, "Stub") /* the way to a function of another module: f@plt */                           \
    X(JIT, "Jit")   /* named by the program */                                                     \
    X(INTERPRETED, "Interpreted")                                                                  \
    X(UNNAMED, "Unnamed") /* module+0xoffset */

#define SNAPSHOT_ENUM_KIND(name, word) SNAPSHOT_##name,
enum snapshot_kind { SNAPSHOT_KINDS(SNAPSHOT_ENUM_KIND) SNAPSHOT_KIND_COUNT };
#undef SNAPSHOT_ENUM_KIND

#define SNAPSHOT_NO_OFFSET UINT64_MAX

/* A symbol, or a subprogram that was only seen inlined; where there is no name, one function of the
 * unwind data; without that, one pc. */
struct snapshot_function {
    char id[40];           /* stable for the life of the profile: "functions/3/1a2b0" */
    const char *name;      /* short, demangled; "module+0xoffset" when there is no name */
    const char *full_name; /* with parameters; = name where there are none */
    const char *raw_name;  /* as in the symbol table; = name when there is none */
    const char *file;      /* where it is defined; NULL: not known */
    uint32_t file_number;  /* one for each file of the profile; 0: not known */
    uint32_t line;         /* of its definition; 0: not known */
    uint32_t library;      /* index into snapshot_libraries */
    enum snapshot_kind kind;
    uint64_t offset; /* in its module: where it begins, or the pc; or SNAPSHOT_NO_OFFSET */
    uint64_t size;   /* bytes from there on; 0: not known */
    uint64_t inclusive, exclusive; /* samples with it anywhere (once each), and as the leaf */
};

/* A place in the source that samples have met: most samples share theirs with others. */
struct snapshot_frame {
    uint32_t function;    /* index into snapshot_functions */
    uint32_t line : 31;   /* 0: not known */
    uint32_t inlined : 1; /* into the frame behind it */
    const char *file;     /* of the line, where it is not the function's file; else NULL */
    uint64_t offset;      /* in the module: the leaf's pc, the last byte of a caller's call; or
                             SNAPSHOT_NO_OFFSET */
};

struct snapshot_sample {
    uint64_t process_id;
    int64_t timestamp_us;
    int32_t tid;
    const char *thread_name;
    const char *tag; /* that the program set; NULL: none */
    uint64_t weight; /* that it stands for: nanoseconds of CPU time; bytes; ns waited; faults */
    double objects;  /* of sample_kind_is_many: so many */
    struct sample_wait wait;
    enum feed_end end;      /* FEED_END_ROOT: the stack is whole */
    uint8_t state;          /* feed_state, or a number above */
    uint32_t depth;         /* at least 1 */
    const uint32_t *frames; /* leaf first; indices into snapshot_frames; until the next call */
    uint32_t place;         /* for snapshot_stack */
};

uint32_t snapshot_sample_count(const struct snapshot *snapshot); /* so many are told */
int64_t snapshot_first_us(const struct snapshot *snapshot);      /* 0 when there is no sample */
int64_t snapshot_last_us(const struct snapshot *snapshot);
/* The asked one; of a counted window the one that it is counted in. */
uint32_t snapshot_period_us(const struct snapshot *snapshot);
uint32_t snapshot_depth_max(const struct snapshot *snapshot); /* the asked one */
/* Where a next window goes on that has this one's "since". */
struct snapshot_cursor snapshot_cursor(const struct snapshot *snapshot);
const struct snapshot_function *snapshot_functions(const struct snapshot *snapshot,
                                                   uint32_t *count);
const struct snapshot_frame *snapshot_frames(const struct snapshot *snapshot, uint32_t *count);
const struct snapshot_library *snapshot_libraries(const struct snapshot *snapshot, uint32_t *count);

/* Samples oldest first; copies of one sample stand together. cursor starts at 0; false at the end.
 * One reader at a time is fast: the snapshot knows where 8,192 samples are, not all. */
bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out);
/* Makes the next snapshot_next a short one. False: call again. */
bool snapshot_ready(struct snapshot *snapshot, uint32_t cursor, int64_t *work);
/* The stack of the sample that had this place: its depth, and frames as in snapshot_sample. */
uint32_t snapshot_stack(struct snapshot *snapshot, uint32_t place, const uint32_t **frames);

/* What is known by its id, whether a window shows it or not. False: nothing has the id. */
bool profile_library(struct profile *profile, const char *id, struct snapshot_library *out);

struct profile_function {
    struct snapshot_function function; /* its library and counts are 0 */
    struct snapshot_library library;
    char name[512]; /* where function.name is when no table has it: do not move the struct */
};

bool profile_function(struct profile *profile, const char *id, struct profile_function *out);

/* A file of the source of a module, known from its functions. */
struct profile_script {
    const char *file;     /* NULL: the module itself, which has functions whose file is not known */
    uint32_t file_number; /* 0: of the module itself */
    struct snapshot_library library;
};

/* Those of the modules that are not the system's, and of all that runtimes run, in the order they became known: of one process
 * (0: of all). Returns how many there are; fills at most capacity. */
size_t profile_scripts(struct profile *profile, uint64_t process_id, struct profile_script *out,
                       size_t capacity);

#endif
