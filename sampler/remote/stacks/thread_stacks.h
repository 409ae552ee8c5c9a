/*
 * thread_stacks.h - one stack of every thread, now: of a running process, or of a core file.
 *
 *   `isoscope dump PID|CORE` -> thread_stacks_of_process, thread_stacks_of_core -> frames by module and offset -> names
 *
 * A thread that runs is stopped for as long as its registers and its stack take to copy. One that sleeps is read
 * without being stopped; only where that gives no whole stack, and its system call goes on by itself after a stop, it is
 * stopped too. stack_walk.h says how a stack is walked.
 *
 * Units      *_ns: nanoseconds of CLOCK_MONOTONIC.
 * Ownership  thread_stacks_free.
 * Threads    One at a time. For a process, no other thread of the caller's may wait for children meanwhile.
 * Errors     false, with a refusal. What cannot be told of one thread is said in its why.
 */
#ifndef ISOSCOPE_THREAD_STACKS_H
#define ISOSCOPE_THREAD_STACKS_H

#include "../refusal.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    STACKS_DEPTH_MAX = 512,
    STACKS_BUILD_ID_MAX = 20,
    STACKS_NO_MODULE = UINT32_MAX,
};

enum stack_found {
    STACK_FOUND,         /* the leaf, or by its callee's unwind data */
    STACK_FRAME_POINTER, /* its callee has none; where its frame pointer led */
    STACK_RETURN_ADDRESS, /* ... no frame pointer either: the next return address on the stack, which may be an old one */
};

struct stack_frame {
    uint64_t pc;     /* as it ran; of a caller: its call's last byte */
    uint64_t offset; /* ELF vaddr in the module */
    uint32_t module; /* in modules; or STACKS_NO_MODULE */
    enum stack_found found;
};

struct stack_module {
    char *path; /* as the process names it; "[vdso]" */
    char *file; /* the same file, to be opened here; NULL: there is none any more */
    uint8_t build_id[STACKS_BUILD_ID_MAX];
    uint32_t build_id_bytes; /* 0: it has none */
    uint64_t start, end, bias;
    uint64_t entry; /* where a program begins; 0: it is none */
    /* Where its unwind data is in memory; 0 entries: it has none, or it is not mapped. */
    uint64_t header, table, entries;
};

struct stack_thread {
    pid_t tid;
    pid_t own_tid; /* as the process numbers it, in a pid namespace of its own */
    char name[16];
    char state;      /* as /proc has it: R S D T t Z X; of a core file '\0' */
    char waits[192]; /* "epoll_wait(5: ...)"; "": it is in no system call */
    pid_t
        lock_owner; /* tid of the thread that holds the lock it waits for, or that it joins; 0: not known */
    uint64_t stopped_ns; /* 0: it was not stopped */
    bool complete;       /* the stack reaches the thread's start */
    char why[160];       /* why it is not complete; "" */
    struct stack_frame *frames;
    uint32_t depth;
};

struct thread_stacks {
    pid_t pid;
    char exe[512];
    int signal; /* that ended it, and the first thread got; 0: it runs, or nobody knows */
    uint64_t missing_bytes; /* of a core file that was cut off */
    struct stack_thread *threads;
    uint32_t thread_count;
    struct stack_module *modules; /* by address */
    uint32_t module_count;
    uint64_t took_ns;
};

bool thread_stacks_of_process(struct thread_stacks **out, pid_t pid, struct refusal *why);
bool thread_stacks_of_core(struct thread_stacks **out, const char *path, struct refusal *why);
void thread_stacks_free(struct thread_stacks *stacks); /* NULL is fine */

#endif
