/*
 * inject_place.h - a thread of another process, held where it may be made to call anything.
 *
 * That is where it comes out of a system call that nobody makes with libc's or the loader's locks in hand; on a stack of libc's
 * making; and not in a signal's handler, which may have cut off anything.
 *
 * Threads    The tracer's one; what is held when it ends runs on by itself.
 */
#ifndef ISOSCOPE_INJECT_PLACE_H
#define ISOSCOPE_INJECT_PLACE_H

#include "inject_machine.h"

#include "../refusal.h"

#include <sys/types.h>

/* The library as its soname has it, whatever its version's last digits. */
#define INJECT_LIBRARY "libisoscope.so"

enum { INJECT_VECTORS_MAX = 16 * 1024 };

/* What of the process must be known to look for it. */
struct inject_program {
    pid_t pid;
    uint64_t call, back; /* inject_call_bytes, inject_return_bytes */
};

struct inject_held {
    const struct inject_program *program;
    pid_t tid;
    bool was_cut; /* its call was, by us: it is to be made anew */
    struct user_regs_struct
        as_left; /* as the kernel had them; with was_cut, it would say EINTR, maybe */
    struct inject_context resume; /* how it goes on */
    uint8_t vectors[INJECT_VECTORS_MAX];
};

/* False, with a refusal: no thread came to such a place until then. */
bool inject_place_find(struct inject_held *out, const struct inject_program *program,
                       int64_t until_ns, struct refusal *why);

/* The next stop of a thread, as waitpid tells it; -1: there was none until then. */
int inject_await(pid_t tid, int64_t until_ns);
bool inject_get(pid_t tid, struct user_regs_struct *out);
bool inject_set(pid_t tid, const struct user_regs_struct *registers);
/* Lets a held thread, which stands in a stop of PTRACE_INTERRUPT, go on as if nothing had been. */
void inject_release(const struct inject_held *held);
/* A line of /proc/PID/task/TID/status that has a number in hexadecimal digits. */
uint64_t inject_status_hex(pid_t pid, pid_t tid, const char *word);

#endif
