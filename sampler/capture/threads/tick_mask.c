#include "tick_mask.h"

#include "tick_signal.h"

#include <string.h>
#include <ucontext.h>

enum { ALL_SIGNALS_MIN = 20 };

/* libc's set begins with the kernel's. */
SIGNAL_SAFE_INLINE uint64_t kernel_set(const sigset_t *set)
{
    uint64_t signals;

    memcpy(&signals, set, sizeof signals);
    return signals;
}

bool tick_mask_means_all(const sigset_t *set)
{
    int count = 0;

    for (uint64_t signals = kernel_set(set); signals; signals &= signals - 1)
        count++;
    return count >= ALL_SIGNALS_MIN;
}

void tick_mask_add(sigset_t *set, uint64_t signals)
{
    signals |= kernel_set(set);
    memcpy(set, &signals, sizeof signals);
}

void tick_mask_remove(sigset_t *set, uint64_t signals)
{
    signals = kernel_set(set) & ~signals;
    memcpy(set, &signals, sizeof signals);
}

bool tick_mask_hold(int number, const siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;

    if (info->si_code > 0 || !tick_mask_means_all(&interrupted->uc_sigmask))
        return false;
    tick_mask_add(&interrupted->uc_sigmask, UINT64_C(1) << (number - 1));
    return tick_signal_send_again(info);
}
