#include "fault_handler.h"

#include "runtimes/read_guard.h"
#include "system/arch.h"
#include "threads/program_action.h"
#include "threads/tick_signal.h"
#include "tick_stack.h"

#include "../feed/sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic bool in_force, taking;

/* Of each tick's stack: a signal that was sent while its scan let signals through. */
static struct held_signal {
    bool is;
    siginfo_t info;
} held[TICK_STACKS];
static _Atomic uint32_t held_count;

static SIGNAL_SAFE bool take(int number)
{
    struct sigaction now, ours, before;

    if (tick_signal_ours(number, handler_fault))
        return true;
    if (!tick_signal_action(number, NULL, &now) || now.sa_handler == SIG_IGN)
        return false;
    program_action_set(number, &now);
    ours = now;
    ours.sa_sigaction = handler_fault;
    ours.sa_flags = (now.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    if (!tick_signal_action(number, &ours, &before))
        return false;
    /* A thread of the program's may have set another one meanwhile. */
    if (before.sa_sigaction != handler_fault && before.sa_handler != now.sa_handler)
        program_action_set(number, &before);
    return true;
}

/* A program may go past libc at any time. */
static SIGNAL_SAFE bool are_ours(void)
{
    return tick_signal_ours(SIGSEGV, handler_fault) && tick_signal_ours(SIGBUS, handler_fault);
}

bool fault_handler_take(void)
{
    bool force = atomic_load_explicit(&in_force, memory_order_acquire);

    if (force && are_ours())
        return true;
    if (atomic_exchange_explicit(&taking, true, memory_order_acquire))
        return false; /* by another thread, just now */
    force = take(SIGSEGV) && take(SIGBUS);
    atomic_store_explicit(&in_force, force, memory_order_release);
    atomic_store_explicit(&taking, false, memory_order_release);
    return force;
}

void fault_handler_left(void)
{
    if (atomic_load_explicit(&in_force, memory_order_relaxed)) /* else it would cost a page */
        atomic_store_explicit(&in_force, false, memory_order_release);
}

void fault_handler_forget_parent(void)
{
    if (atomic_load(&taking))
        atomic_store(&taking, false);
    if (!atomic_load(&held_count))
        return;
    atomic_store(&held_count, 0);
    memset(held, 0, sizeof held);
}

/* It waits for the scan's end, as it would have waited for the tick's. Of several one is kept, as the
 * kernel does. */
static SIGNAL_SAFE bool hold(const siginfo_t *info, const ucontext_t *context)
{
    uint32_t number = tick_stack_number(arch_register(context, ARCH_SP));

    if (info->si_code > 0 || number >= TICK_STACKS)
        return false;
    if (!held[number].is)
        atomic_fetch_add_explicit(&held_count, 1, memory_order_relaxed);
    held[number].info = *info;
    held[number].is = true;
    return true;
}

void fault_handler_send_held(void)
{
    uint32_t number;

    if (!atomic_load_explicit(&held_count, memory_order_relaxed))
        return;
    number = tick_stack_number((uint64_t)__builtin_frame_address(0));
    if (number >= TICK_STACKS || !held[number].is)
        return;
    held[number].is = false;
    atomic_fetch_sub_explicit(&held_count, 1, memory_order_relaxed);
    tick_signal_send_again(&held[number].info);
}

/* What faulted is carried out again, and faults again. What was sent is sent again. */
static SIGNAL_SAFE void leave_to_default(int number, const siginfo_t *info)
{
    const uint64_t kernel_default[4] = { 0 };

    fault_handler_left();
    sys_call4(SYS_rt_sigaction, number, kernel_default, 0, 8);
    if (info->si_code <= 0 || (number == SIGBUS && info->si_code == BUS_MCEERR_AO))
        tick_signal_send_again(info);
}

void handler_fault(int number, siginfo_t *info, void *context)
{
    if ((info->si_code > 0 && read_guard_leave(context)) || hold(info, context))
        return;
    if (!program_action_run(number, info, context))
        leave_to_default(number, info);
}
