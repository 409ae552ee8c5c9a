#include "standstill.h"

#include "handover.h"
#include "sampler.h"
#include "wall/wall.h"

#include "../feed/sys.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { KERNEL_SIGSET_BYTES = 8, LOOK_NS = 20 * 1000 * 1000, HANDLER_LOOKS = 20000 };

enum request { REQUEST_CALL, REQUEST_AWAY, REQUEST_OVER };

static struct {
    _Atomic uint32_t lock;  /* held by the thread that asks */
    _Atomic uint32_t asked; /* 1 until the sampler's thread has answered */
    enum request request;
    long number, arguments[6];
    struct handover handover;
    long result;
} errand;

static void count_loss(enum feed_loss loss)
{
    atomic_fetch_add_explicit(&sampler.segment.header->status.lost[loss], 1, memory_order_relaxed);
}

/* A signal handler of the program's that asks for the same would wait for itself. */
static void lock(uint64_t *mask)
{
    const uint64_t all = ~UINT64_C(0);

    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, KERNEL_SIGSET_BYTES);
    while (atomic_exchange_explicit(&errand.lock, 1, memory_order_acquire))
        sys_futex(&errand.lock, FUTEX_WAIT_PRIVATE, 1, NULL);
}

static void unlock(const uint64_t *mask)
{
    atomic_store_explicit(&errand.lock, 0, memory_order_release);
    sys_futex(&errand.lock, FUTEX_WAKE_PRIVATE, 1, NULL);
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, mask, 0, KERNEL_SIGSET_BYTES);
}

/* False when there is no thread to answer. */
static bool ask(enum request request)
{
    const struct timespec look = { 0, LOOK_NS };

    errand.request = request;
    atomic_store_explicit(&errand.asked, 1, memory_order_release);
    sampler_wake();
    while (atomic_load_explicit(&errand.asked, memory_order_acquire)) {
        if (!atomic_load(&sampler.thread.tid)) {
            atomic_store(&errand.asked, 0);
            return false;
        }
        sys_futex(&errand.asked, FUTEX_WAIT_PRIVATE, 1, &look);
    }
    return true;
}

/* In the order of prepare_to_leave. */
static void take_over(const int *fds, int count)
{
    int at = 0;

    sampler.memfd = at < count ? fds[at++] : -1;
    sampler.uplink = sampler.uplink >= 0 && at < count ? fds[at++] : -1;
    sampler.threads.root = sampler.threads.root >= 0 && at < count ? fds[at++] : -1;
}

static bool send_away(void)
{
    int fds[HANDOVER_MAX], count;

    if (handover_open(&errand.handover) < 0)
        return false;
    if (!ask(REQUEST_AWAY) || errand.result != 0) {
        sys_call1(SYS_close, errand.handover.inbox);
        return false;
    }
    raw_thread_join(&sampler.thread);
    count = handover_take(&errand.handover, fds);
    take_over(fds, count);
    return true;
}

static void call_back(void)
{
    const int fds[] = { sampler.memfd, sampler.uplink, sampler.threads.root };

    if (!sampler_restart_thread())
        count_loss(FEED_LOSS_NO_THREAD);
    for (int i = 0; i < HANDOVER_MAX; i++)
        if (fds[i] >= 0)
            sys_call1(SYS_close, fds[i]);
}

void standstill_follow(long number, const long arguments[6])
{
    uint64_t mask;

    lock(&mask);
    errand.number = number;
    memcpy(errand.arguments, arguments, sizeof errand.arguments);
    /* It may not have the rights for it, where the caller's were changed unseen: then a new thread
     * takes the caller's. */
    if (sampler_running() && ask(REQUEST_CALL) && errand.result != 0 && send_away())
        call_back();
    unlock(&mask);
}

void standstill_begin(struct standstill *out)
{
    lock(&out->mask);
    out->holds = sampler_running() && send_away();
    if (!out->holds)
        unlock(&out->mask);
}

void standstill_end(struct standstill *standstill)
{
    if (!standstill->holds)
        return;
    call_back();
    unlock(&standstill->mask);
}

/* A tick in the middle of its work, perhaps without a processor just now, would make the call that
 * a filter ends the program for. */
static void wait_for_handlers(void)
{
    const struct timespec moment = { 0, 20 * 1000 };

    for (int looks = 0; looks < HANDLER_LOOKS && atomic_load(&sampler.handlers); looks++)
        sys_call2(SYS_nanosleep, &moment, 0);
}

void standstill_for_good(void)
{
    uint64_t mask;

    lock(&mask);
    if (sampler_running()) {
        count_loss(FEED_LOSS_SANDBOXED);
        if (ask(REQUEST_OVER))
            raw_thread_join(&sampler.thread);
        atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_seq_cst);
        wait_for_handlers();
    }
    unlock(&mask);
}

static long prepare_to_leave(void)
{
    int fds[HANDOVER_MAX] = { sampler.memfd }, count = 1;
    int error;

    threads_part(&sampler.threads);
    if (sampler.uplink >= 0)
        fds[count++] = sampler.uplink;
    if (sampler.threads.root >= 0)
        fds[count++] = sampler.threads.root;
    error = handover_send(&errand.handover, fds, (size_t)count);
    if (error)
        return error;
    wall_forget(&sampler.threads);
    return 0;
}

enum standstill_answer standstill_serve(void)
{
    enum standstill_answer answer = STANDSTILL_GO_ON;
    const long *a = errand.arguments;

    if (!atomic_load_explicit(&errand.asked, memory_order_acquire))
        return answer;
    errand.result = 0;
    if (errand.request == REQUEST_CALL) {
        errand.result = sys_call6(errand.number, a[0], a[1], a[2], a[3], a[4], a[5]);
    } else if (errand.request == REQUEST_AWAY) {
        errand.result = prepare_to_leave();
        answer = errand.result ? STANDSTILL_GO_ON : STANDSTILL_AWAY;
    } else {
        answer = STANDSTILL_OVER;
    }
    atomic_store_explicit(&errand.asked, 0, memory_order_release);
    sys_futex(&errand.asked, FUTEX_WAKE_PRIVATE, 1, NULL);
    return answer;
}

void standstill_forget(void)
{
    atomic_store(&errand.lock, 0);
    atomic_store(&errand.asked, 0);
}
