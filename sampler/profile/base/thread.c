#include "thread.h"

#include "../../include/isoscope/isoscope.h"

#include <errno.h>
#include <signal.h>

int thread_start(pthread_t *out, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(out, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error ? -ISOSCOPE_SYSTEM : 0;
}
