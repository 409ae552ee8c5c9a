#include "program_action.h"

#include "../../feed/sys.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    SIGNALS = 64,
    KERNEL_SIGSET_BYTES = 8,
    KEPT = 256, /* a reader is done long before so many others were set */
};

/* A new one each time, so that no reader meets half of it, and nobody waits: a handler may
 * interrupt a set, and a fork may leave one undone. */
struct kept_action {
    _Atomic uintptr_t handler;
    _Atomic uint64_t mask; /* a kernel's set */
    _Atomic int flags;
};

static struct kept_action kept[KEPT];
static _Atomic uint32_t next;
static _Atomic uint32_t current[SIGNALS + 1]; /* by signal: its place in kept + 1; 0: none */

void program_action_forget(int number)
{
    atomic_store_explicit(&current[number], 0, memory_order_release);
}

void program_action_set(int number, const struct sigaction *action)
{
    uint32_t place = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % KEPT;
    uint64_t mask;

    if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
        program_action_forget(number);
        return;
    }
    memcpy(&mask, &action->sa_mask, sizeof mask);
    atomic_store_explicit(&kept[place].handler, (uintptr_t)action->sa_handler,
                          memory_order_relaxed);
    atomic_store_explicit(&kept[place].mask, mask, memory_order_relaxed);
    atomic_store_explicit(&kept[place].flags, action->sa_flags, memory_order_relaxed);
    atomic_store_explicit(&current[number], place + 1, memory_order_release);
}

bool program_action_get(int number, struct sigaction *out)
{
    uint32_t place = atomic_load_explicit(&current[number], memory_order_acquire);
    uint64_t mask;

    if (!place)
        return false;
    memset(out, 0, sizeof *out);
    mask = atomic_load_explicit(&kept[place - 1].mask, memory_order_relaxed);
    memcpy(&out->sa_mask, &mask, sizeof mask);
    out->sa_flags = atomic_load_explicit(&kept[place - 1].flags, memory_order_relaxed);
    out->sa_handler =
        (sighandler_t)atomic_load_explicit(&kept[place - 1].handler, memory_order_relaxed);
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
    uint32_t place = atomic_load_explicit(&current[number], memory_order_acquire);
    uintptr_t handler;
    uint64_t mask;
    int flags;

    if (!place)
        return false;
    handler = atomic_load_explicit(&kept[place - 1].handler, memory_order_relaxed);
    mask = atomic_load_explicit(&kept[place - 1].mask, memory_order_relaxed);
    flags = atomic_load_explicit(&kept[place - 1].flags, memory_order_relaxed);
    if (flags & (int)SA_RESETHAND)
        atomic_compare_exchange_strong_explicit(&current[number], &place, 0, memory_order_relaxed,
                                                memory_order_relaxed);
    block_as_asked(number, context, mask, flags);
    if (flags & SA_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))handler)(number, info, context);
    else
        ((void (*)(int))handler)(number);
    return true;
}
