#include "page_faults.h"

#include "sampler_state.h"
#include "threads/fault_event.h"

static uint32_t wanted;

void page_faults_prepare(uint32_t faults)
{
    wanted = faults;
}

int page_faults_open(bool may)
{
    struct feed_status *status = &sampler.writer.header->status;
    long fd = wanted && may ? fault_event_open(wanted) : -1;
    uint32_t seen = FEED_FAULTS_UNSEEN;

    if (wanted)
        seen = fd < 0 ? FEED_FAULTS_REFUSED : FEED_FAULTS_SEEN;
    atomic_store_explicit(&status->faults_period, wanted, memory_order_relaxed);
    atomic_store_explicit(&status->faults_seen, seen, memory_order_relaxed);
    return fd < 0 ? -1 : (int)fd;
}
