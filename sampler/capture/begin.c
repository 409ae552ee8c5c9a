#include "begin.h"

#include "announce.h"
#include "event_epoch.h"
#include "own_rates.h"
#include "sampler_state.h"
#include "tend.h"

int begin_ticks(enum feed_origin origin, int memfd)
{
    int error;

    tend_begin();
    atomic_store_explicit(&sampler.running, RUN_ON, memory_order_release);
    error = announce_hello(-1, origin, memfd);
    if (error) {
        atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_release);
        own_rates_end();
        event_epoch_end(); /* a forked child's is the parent's */
        threads_stop(&sampler.threads);
        feed_writer_destroy(&sampler.writer);
        return error;
    }
    event_epoch_begin();
    own_rates_begin();
    return 0;
}
