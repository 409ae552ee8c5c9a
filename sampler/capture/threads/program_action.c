#include "program_action.h"

#include "../../feed/sys.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    SIGNALS = 64,
    KERNEL_SIGSET_BYTES = 8,
    KEPT = 8,  /* of a signal: so many others may be set while one is written */
    TRIES = 8, /* to read one */
};

/* A new one each time, so that no reader meets half of it, and nobody waits: a handler may
 * interrupt a set, and a fork may leave one undone. */
struct kept_action {
    _Atomic uintptr_t handler;
    _Atomic uint64_t mask; /* a kernel's set */
    _Atomic int flags;
};

/* By signal: what is set for one must not take the place of what holds for another. */
static struct kept_action kept[SIGNALS + 1][KEPT];
static _Atomic uint32_t next[SIGNALS + 1];
static _Atomic uint32_t current[SIGNALS + 1]; /* the number of its set, from 1 on; 0: none */

SIGNAL_SAFE_INLINE struct kept_action *place_of(int number, uint32_t set)
{
    return &kept[number][set % KEPT];
}

/* Read first: what is zero is not written to, for that costs a page. */
void program_action_forget(int number)
{
    if (atomic_load_explicit(&current[number], memory_order_relaxed))
        atomic_store_explicit(&current[number], 0, memory_order_release);
}

void program_action_set(int number, const struct sigaction *action)
{
    struct kept_action *place;
    uint32_t set;
    uint64_t mask;

    if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
        program_action_forget(number);
        return;
    }
    set = atomic_fetch_add_explicit(&next[number], 1, memory_order_relaxed) + 1;
    place = place_of(number, set);
    memcpy(&mask, &action->sa_mask, sizeof mask);
    atomic_store_explicit(&place->handler, (uintptr_t)action->sa_handler, memory_order_relaxed);
    atomic_store_explicit(&place->mask, mask, memory_order_relaxed);
    atomic_store_explicit(&place->flags, action->sa_flags, memory_order_relaxed);
    atomic_store_explicit(&current[number], set, memory_order_release);
}

/* One of them, as it was read. */
struct read_action {
    uint32_t set;
    uintptr_t handler;
    uint64_t mask;
    int flags;
};

/* Again where another was set meanwhile: its parts must be of one action. False: there is none. */
SIGNAL_SAFE_INLINE bool read_kept(int number, struct read_action *out)
{
    for (int tries = 0; tries < TRIES; tries++) {
        const struct kept_action *action;

        out->set = atomic_load_explicit(&current[number], memory_order_acquire);
        if (!out->set)
            return false;
        action = place_of(number, out->set);
        out->handler = atomic_load_explicit(&action->handler, memory_order_acquire);
        out->mask = atomic_load_explicit(&action->mask, memory_order_acquire);
        out->flags = atomic_load_explicit(&action->flags, memory_order_acquire);
        if (atomic_load_explicit(&current[number], memory_order_relaxed) == out->set)
            break;
    }
    return true;
}

bool program_action_get(int number, struct sigaction *out)
{
    struct read_action action;

    if (!read_kept(number, &action))
        return false;
    memset(out, 0, sizeof *out);
    memcpy(&out->sa_mask, &action.mask, sizeof action.mask);
    out->sa_flags = action.flags;
    out->sa_handler = (sighandler_t)action.handler;
    return true;
}

/* As the kernel would have: what was blocked, what the program asked for, and the signal itself.
 * Our own handler's return brings back what was. */
SIGNAL_SAFE_INLINE void block_as_asked(int number, const ucontext_t *context, uint64_t mask,
                                       int flags)
{
    const uint64_t itself = flags & SA_NODEFER ? 0 : UINT64_C(1) << (number - 1);
    uint64_t before;

    __builtin_memcpy(&before, &context->uc_sigmask, sizeof before);
    mask |= before | itself;
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, KERNEL_SIGSET_BYTES);
}

bool program_action_run(int number, siginfo_t *info, void *context)
{
    struct read_action action;

    if (!read_kept(number, &action))
        return false;
    if (action.flags & (int)SA_RESETHAND)
        atomic_compare_exchange_strong_explicit(&current[number], &action.set, 0,
                                                memory_order_relaxed, memory_order_relaxed);
    block_as_asked(number, context, action.mask, action.flags);
    if (action.flags & SA_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))action.handler)(number, info, context);
    else
        ((void (*)(int))action.handler)(number);
    return true;
}
