/*
 * isoscope.h - the sampler inside a program: what a program may call.
 *
 * Nobody has to: `isoscope run -- PROGRAM` preloads the same library and starts it. A program
 * that links libisoscope decides itself when sampling starts and ends. While no sampler runs the
 * other calls do nothing, cheaply; those that return an error say -ISOSCOPE_NO_SERVICE, which may
 * be ignored.
 *
 * Errors     0 or a negative isoscope_error; isoscope_strerror gives the sentence.
 * Threads    Every call may come from any thread, but start and stop only from one at a time.
 * Signals    Each call says whether a signal handler may make it. None may where libc may not be
 *            called at all, such as between vfork and exec.
 */
#ifndef ISOSCOPE_ISOSCOPE_H
#define ISOSCOPE_ISOSCOPE_H

#include "event.h"
#include "loop.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOSCOPE_ERRORS(X)                                                                         \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(INVALID, "an argument is out of its range")                                                  \
    X(NO_SERVICE, "no service answers at the feed's socket")                                       \
    X(REFUSED, "the service refused the feed")                                                     \
    X(BAD_FEED, "the feed's memory is not what it should be")                                      \
    X(TIMER, "the kernel refused a sampling timer")                                                \
    X(SYSTEM, "a system call failed")                                                              \
    X(NOT_FOUND, "there is no such thing")                                                         \
    X(PENDING, "not ready yet: ask again when told of a change")                                   \
    X(SECURE, "the program runs with other rights than its user: isoscope stays out")              \
    X(FOREIGN, "the program runs below valgrind, or without glibc: isoscope stays out")            \
    X(OVERLAP, "it overlaps what is registered")                                                   \
    X(LIMIT, "there are as many as there may be")                                                  \
    X(DAMAGED, "the session file is damaged")

#define ISOSCOPE_ENUM_ERROR(name, text) ISOSCOPE_##name,
enum isoscope_error { ISOSCOPE_OK, ISOSCOPE_ERRORS(ISOSCOPE_ENUM_ERROR) ISOSCOPE_ERROR_COUNT };
#undef ISOSCOPE_ENUM_ERROR

struct isoscope_options {
    uint32_t struct_size; /* sizeof(struct isoscope_options) */
    uint32_t period_us;   /* CPU time between two ticks of a thread, 50 to 1,000,000; 0: 1000 */
    const char *socket;   /* the service's feed socket; NULL: $ISOSCOPE_SOCKET */
};

/*
 * Starts sampling every thread of this process for the service at the socket.
 * options may be NULL. Calling it again while it runs changes nothing and returns 0.
 * Not signal-safe.
 */
ISOSCOPE_API int isoscope_start(const struct isoscope_options *options);

/* Ends sampling, tells the service and takes the timers and tables away. Not signal-safe.
 */
ISOSCOPE_API void isoscope_stop(void);

/* error: what a call returned (0, or negative). Never NULL; static memory. Signal-safe. */
ISOSCOPE_API const char *isoscope_strerror(int error);

/* CPU time between two ticks of a thread, 50 to 1,000,000, for all threads of this process, until
 * the service asks for another. Signal-safe. */
ISOSCOPE_API int isoscope_set_period(uint32_t period_us);

/* ---- threads ----
 *
 * Threads made with pthread_create while the sampler runs are known from their first instruction,
 * and all others are found within seconds.
 */

/*
 * The calling thread is sampled from now on, and shown by this name (15 bytes of it; NULL: as the
 * kernel calls it). For a thread made without pthread_create, or to give a name: the kernel's
 * stays as it is. The thread that calls isoscope_start may give its name before. Not signal-safe.
 */
ISOSCOPE_API int isoscope_thread_register(const char *name);

/* Takes the name back. For the end of a thread made without pthread_create; one that lives on is
 * found again, and has the kernel's name then. Not signal-safe. */
ISOSCOPE_API void isoscope_thread_unregister(void);

/* The samples taken of the calling thread so far: has it grown, then the thread was sampled in
 * between. Signal-safe once the thread is registered. */
ISOSCOPE_API uint64_t isoscope_sample_count(void);

/* ---- tags ----
 *
 * What the calling thread is busy with, in the program's own words: each of its samples has the tag
 * that was pushed last, and clients show it as userTag. The text is copied when a sample is taken,
 * so it must stay as it is until the pop; at most 255 bytes of it are kept. Up to 32 tags nest;
 * further ones are counted, and the 32nd stays in force. The cost is that of a few instructions. A
 * thread made with a raw clone that has no thread-local memory of its own must not use them.
 */

/* Signal-safe once the thread is registered, if the handler pops what it pushed. */
ISOSCOPE_API void isoscope_tag_push(const char *tag);
/* Without a push before, nothing. Signal-safe. */
ISOSCOPE_API void isoscope_tag_pop(void);

/* ---- code without a file ---- */

/*
 * Code that a JIT has written to [start, start + size): its frames have this name (copied; 255
 * bytes of it), and the library [jit]. It is walked by frame pointer: it must keep the caller's rbp
 * (x29) and the return address in a pair, and point to the pair with its own, as compilers do with
 * -fno-omit-frame-pointer. A range that overlaps registered ones replaces them. Forked children
 * know them too. Not signal-safe.
 */
ISOSCOPE_API int isoscope_code_register(const void *start, size_t size, const char *name);

/* Before the memory goes or is written anew. start: as it was registered. -ISOSCOPE_NOT_FOUND when
 * nothing begins there. Not signal-safe. */
ISOSCOPE_API int isoscope_code_unregister(const void *start);

/* ---- interpreters ---- */

/* A frame of an interpreter's own code that the walk has come to; leaf first. */
struct isoscope_native_frame {
    uintptr_t pc;   /* where it stands, or will return to */
    uintptr_t sp;   /* its stack pointer: what it called lies below */
    uint32_t shown; /* how many frames the provider has given for it so far */
    /* Copies the program's memory at address, which may be any: nothing faults. Of each page the first
     * read in a sample takes a system call of 0.1 us, and what lies on this thread's stack, from sp up,
     * takes none. Where the program ignores SIGSEGV or SIGBUS each read is a call of 1 to 2 us. 0, or
     * -ISOSCOPE_NOT_FOUND: not all of it is readable; -ISOSCOPE_SYSTEM: this kernel or container refuses
     * that call (process_vm_readv). */
    int (*read)(const struct isoscope_native_frame *native, void *out, uintptr_t address,
                size_t size);
};

/*
 * Says what an interpreter is running: called again and again for each native frame of its code, it
 * gives the names of the functions that this frame runs, innermost first, then NULL. They stand
 * in the stack in place of the native frame, in the library [interpreted]. NULL at once: the native
 * frame stands. *cursor is NULL at a stack's first call and the provider's own after that, through
 * all native frames of the stack: the frame it gave last, usually.
 *
 * It runs in a signal handler, in the thread that is sampled, at any instruction of that thread,
 * also in the middle of the interpreter's own changes to its frames:
 *   - no lock, no allocation, no system call, no libc but memcpy and its like;
 *   - memory that may not be readable it reads by native->read: what another thread frees, or what
 *     it finds by pointers that may be wrong. The rest stays readable: a frame goes out of the list
 *     before it is freed;
 *   - what it follows is stored in an order that is whole at each step (fill in the frame, then
 *     atomic_signal_fence, then make it the current one), by volatile or atomic stores;
 *   - thread-local variables only of the model initial-exec (in a program: all; in a shared
 *     library: -ftls-model=initial-exec);
 *   - it ends: a name a call, and NULL at last. A name is copied before the next call;
 *   - no C++ exception, no longjmp.
 */
typedef const char *(*isoscope_frame_provider)(void *context,
                                               const struct isoscope_native_frame *native,
                                               void **cursor);

/*
 * The provider is asked of frames whose code lies in [start, start + size): the function that
 * interprets, which is in a section of its own at best (__attribute__((section("interpreter"))): the
 * linker knows __start_interpreter and __stop_interpreter). Code of no file must be known to
 * isoscope_code_register too, which says how it is walked.
 *
 * A provider is a function and a context, and has a cursor of its own. There may be eight. Each may
 * have any number of ranges, by a call each. -ISOSCOPE_OVERLAP: some of the range belongs to
 * another provider, and stays so. -ISOSCOPE_LIMIT: it would be the ninth provider. May be called
 * before isoscope_start. Not signal-safe.
 */
ISOSCOPE_API int isoscope_frame_provider_register(const void *start, size_t size,
                                                  isoscope_frame_provider provider, void *context);

/* A function as it is in a native frame. */
struct isoscope_code {
    /* What tells it from all other functions of this provider: its address, and words of it that another one
     * made at the same address later would not have. Those that are not used are 0. */
    uint64_t key[4];
    /* Where in it: in what lines count. Below 16,777,215, which is "not known". */
    uint32_t position;
};

enum { ISOSCOPE_CODE_LINES_MAX = 4096 };

/* What a function is called, and where it is written. All zeros at first; texts end with 0. */
struct isoscope_code_text {
    char name[1024];     /* in full, as people of that language write it; UTF-8 */
    char file[4096];     /* an absolute path, or any other word */
    uint32_t first_line; /* of its definition; 0: not known */
    uint32_t line_count; /* 0: a position is a line itself */
    struct {
        uint32_t position, line; /* from which position on; ascending */
    } lines[ISOSCOPE_CODE_LINES_MAX];
};

/*
 * As isoscope_frame_provider, but it says which function a native frame runs, and where in it, not what it
 * is called: it fills in code (all zeros before) and returns 1; 0: no more. So a sample copies no names.
 * What it must keep to is the same.
 */
typedef int (*isoscope_code_provider)(void *context, const struct isoscope_native_frame *native,
                                      void **cursor, struct isoscope_code *code);

/* Fills in what is known of a function that the provider has just given and that is new; native: to read by.
 * In the same signal handler. It is asked once for each key, and seldom again. */
typedef void (*isoscope_code_describe)(void *context, const struct isoscope_native_frame *native,
                                       const struct isoscope_code *code,
                                       struct isoscope_code_text *text);

/*
 * As isoscope_frame_provider_register, with which it shares the eight providers; taken back by
 * isoscope_frame_provider_unregister. The functions stand in the library of their file, with lines.
 * Stacks of threads that sleep are read from outside in wall mode: there the native frames stand.
 */
ISOSCOPE_API int isoscope_code_provider_register(const void *start, size_t size,
                                                 isoscope_code_provider provider,
                                                 isoscope_code_describe describe, void *context);

/*
 * Takes one range back. start: as it was registered; -ISOSCOPE_NOT_FOUND when none begins there.
 * When it returns 0, no tick still runs the provider for this range, and what belongs to it may go.
 * -ISOSCOPE_PENDING: the range is gone, but a tick has not ended within a second (a debugger holds
 * its thread): nothing may go yet. Not signal-safe.
 */
ISOSCOPE_API int isoscope_frame_provider_unregister(const void *start);

#ifdef __cplusplus
}
#endif
#endif
