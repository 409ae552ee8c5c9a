#include "cpython_gil.h"

#include "cpython_thread.h"

#include <pthread.h>

/* Behind locked: a number of switches, and what threads sleep at, twice. */
enum { BEHIND_LOCKED = 16 + 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t)) };

struct gil {
    uint64_t address, holder; /* holder: 0: it is free */
};

/* state: the thread's; 0: it has none, and no lock of an interpreter is its own. */
static SIGNAL_SAFE bool find_gil(struct runtime_scan *scan, const uint64_t *words, uint64_t state,
                                 struct gil *out)
{
    uint64_t interpreter;
    int32_t locked, enabled = 1;

    if (words[CPYTHON_GIL] != CPYTHON_NO_FIELD)
        out->address = words[CPYTHON_RUNTIME] + words[CPYTHON_GIL];
    else if (!state ||
             !cpython_field(scan, state, words[CPYTHON_THREAD_INTERPRETER], &interpreter) ||
             !cpython_field(scan, interpreter, words[CPYTHON_INTERPRETER_GIL], &out->address))
        return false;
    if (words[CPYTHON_GIL_ENABLED] != CPYTHON_NO_FIELD &&
        !guarded_read(&scan->memory, &enabled, out->address + words[CPYTHON_GIL_ENABLED],
                      sizeof enabled))
        return false;
    if (!enabled ||
        !guarded_read(&scan->memory, &locked, out->address + words[CPYTHON_GIL_LOCKED],
                      sizeof locked) ||
        !cpython_field(scan, out->address, words[CPYTHON_GIL_HOLDER], &out->holder))
        return false;
    if (locked != 1) /* -1: it was not made yet */
        out->holder = 0;
    return true;
}

/* A thread may have several states. */
static SIGNAL_SAFE bool of_one_thread(struct runtime_scan *scan, const uint64_t *words, uint64_t a,
                                      uint64_t b)
{
    uint64_t of_a, of_b;

    return a == b || (cpython_field(scan, a, words[CPYTHON_THREAD_ID], &of_a) &&
                      cpython_field(scan, b, words[CPYTHON_THREAD_ID], &of_b) && of_a == of_b);
}

void cpython_gil(struct runtime_scan *scan, uint32_t entry)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t state = cpython_thread_state(scan, entry);
    struct gil gil = { 0 };

    if (!find_gil(scan, words, state, &gil))
        return;
    if (state && gil.holder && of_one_thread(scan, words, gil.holder, state))
        scan->lock = RUNTIME_LOCK_HELD;
    else if (scan->waits_at - gil.address < words[CPYTHON_GIL_LOCKED] + BEHIND_LOCKED)
        scan->lock = RUNTIME_LOCK_WAIT;
}
