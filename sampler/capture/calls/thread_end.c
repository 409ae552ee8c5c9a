#include "thread_end.h"

#include "preload.h"

#include "../../include/isoscope/isoscope.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <threads.h>

enum { PATIENCE = 1000 }; /* a fork may have left a thread behind in the middle of its telling */

static int (*next_pthread_key_create)(pthread_key_t *, void (*)(void *));
static int (*next___pthread_key_create)(pthread_key_t *, void (*)(void *));
static int (*next_tss_create)(tss_t *, tss_dtor_t);

static pthread_once_t made = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its value: the thread's slot */
static _Atomic bool has_key;
static _Atomic uint32_t telling; /* threads that use the key just now */
static void (*call)(uint32_t slot);

static void ended(void *slot)
{
    call((uint32_t)(uintptr_t)slot);
}

void thread_end_hear(void (*function)(uint32_t slot))
{
    call = function;
}

static void make_key(void)
{
    FIND_NEXT(pthread_key_create);
    atomic_store(&has_key, NEXT(pthread_key_create)(&key, ended) == 0);
}

void thread_end_begin(void)
{
    pthread_once(&made, make_key);
}

void thread_end_tell(uint32_t slot)
{
    atomic_fetch_add(&telling, 1);
    if (atomic_load(&has_key))
        pthread_setspecific(key, (void *)(uintptr_t)slot);
    atomic_fetch_sub(&telling, 1);
}

/* False: it has none, or somebody uses it. */
static bool give_key_up(void)
{
    bool had = atomic_exchange(&has_key, false);

    for (int looks = 0; had && atomic_load(&telling); looks++) {
        if (looks == PATIENCE) {
            atomic_store(&has_key, true);
            return false;
        }
        sched_yield();
    }
    return had && pthread_key_delete(key) == 0;
}

#define KEY_CALL(name, key_type, destructor_type, none_left)                                       \
    int name(key_type *out, destructor_type destructor);                                           \
    ISOSCOPE_API int name(key_type *out, destructor_type destructor)                               \
    {                                                                                              \
        int error;                                                                                 \
                                                                                                   \
        FIND_NEXT(name);                                                                           \
        error = NEXT(name)(out, destructor);                                                       \
        return error == (none_left) && give_key_up() ? NEXT(name)(out, destructor) : error;        \
    }

typedef void (*destructor)(void *);

KEY_CALL(pthread_key_create, pthread_key_t, destructor, EAGAIN)
KEY_CALL(__pthread_key_create, pthread_key_t, destructor, EAGAIN)
KEY_CALL(tss_create, tss_t, tss_dtor_t, thrd_error)
