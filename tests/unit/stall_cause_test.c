#include "sampler/profile/loops/stall_cause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

struct cause_case {
    const char *name;
    uint64_t run_ms, wait_ms, sleep_ms;
    uint64_t io_ms, lock_ms, time_ms, child_ms, fault_ms; /* of the sleep, as looks saw it */
    uint64_t stopped_ms, faults, host_ms, duration_ms;
    enum stall_cause cause;
};

static const struct cause_case cases[] = {
    { "spins", .run_ms = 290, .wait_ms = 10, .duration_ms = 300, .cause = STALL_CAUSE_BUSY },
    { "spins, and reads at the end", .run_ms = 200, .sleep_ms = 100, .io_ms = 100,
      .duration_ms = 300, .cause = STALL_CAUSE_BUSY },
    { "reads", .run_ms = 5, .sleep_ms = 295, .io_ms = 295, .duration_ms = 300,
      .cause = STALL_CAUSE_IO },
    { "waits for a lock", .sleep_ms = 300, .lock_ms = 290, .io_ms = 10, .duration_ms = 300,
      .cause = STALL_CAUSE_LOCK },
    { "sleeps", .sleep_ms = 300, .time_ms = 300, .duration_ms = 300, .cause = STALL_CAUSE_SLEEP },
    { "waits for a child", .sleep_ms = 300, .child_ms = 300, .duration_ms = 300,
      .cause = STALL_CAUSE_CHILD },
    { "waits for pages", .run_ms = 20, .sleep_ms = 280, .fault_ms = 280, .faults = 9,
      .duration_ms = 300, .cause = STALL_CAUSE_FAULT },
    { "pages that come soon, one after the other", .run_ms = 100, .sleep_ms = 200, .io_ms = 10,
      .faults = 900, .duration_ms = 300, .cause = STALL_CAUSE_FAULT },
    { "a read that brings pages in is a read", .sleep_ms = 300, .io_ms = 250, .faults = 900,
      .duration_ms = 300, .cause = STALL_CAUSE_IO },
    { "slept where no look saw it", .run_ms = 50, .sleep_ms = 250, .duration_ms = 300,
      .cause = STALL_CAUSE_UNKNOWN },
    { "64 spinners", .run_ms = 10, .wait_ms = 290, .duration_ms = 300,
      .cause = STALL_CAUSE_STARVED },
    { "as long in want of a processor as on one", .run_ms = 150, .wait_ms = 150, .duration_ms = 300,
      .cause = STALL_CAUSE_STARVED },
    { "as long as asleep", .wait_ms = 150, .sleep_ms = 150, .io_ms = 150, .duration_ms = 300,
      .cause = STALL_CAUSE_STARVED },
    { "64 spinners that the watcher is among", .run_ms = 10, .wait_ms = 290, .host_ms = 160,
      .duration_ms = 300, .cause = STALL_CAUSE_HOST },
    { "the watcher was stopped", .run_ms = 1900, .wait_ms = 100, .host_ms = 1990,
      .duration_ms = 2000, .cause = STALL_CAUSE_HOST },
    { "the watcher was a little late", .run_ms = 290, .wait_ms = 10, .host_ms = 100,
      .duration_ms = 300, .cause = STALL_CAUSE_BUSY },
    { "sleeps while the machine is busy", .run_ms = 5, .sleep_ms = 290, .lock_ms = 280,
      .host_ms = 250, .duration_ms = 300, .cause = STALL_CAUSE_LOCK },
    { "no clock ran, and no look came", .run_ms = 5, .sleep_ms = 295, .host_ms = 290,
      .duration_ms = 300, .cause = STALL_CAUSE_HOST },
    { "nobody looked, for all were late", .host_ms = 300, .duration_ms = 300,
      .cause = STALL_CAUSE_HOST },
    { "stopped", .run_ms = 10, .sleep_ms = 290, .stopped_ms = 280, .duration_ms = 300,
      .cause = STALL_CAUSE_STOPPED },
    { "stopped together with the watcher", .sleep_ms = 300, .stopped_ms = 290, .host_ms = 290,
      .duration_ms = 300, .cause = STALL_CAUSE_STOPPED },
    { "nobody looked", .duration_ms = 300, .cause = STALL_CAUSE_UNKNOWN },
};

static void a_cause_is_what_most_of_the_time_went_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct cause_case *it = &cases[i];
        const struct stall_looks looks = {
            .running_ns = it->run_ms * MS,
            .runnable_ns = it->wait_ms * MS,
            .sleeping_ns = it->sleep_ms * MS,
            .waits_ns = { [CALL_WAITS_IO] = it->io_ms * MS,
                          [CALL_WAITS_LOCK] = it->lock_ms * MS,
                          [CALL_WAITS_SLEEP] = it->time_ms * MS,
                          [CALL_WAITS_CHILD] = it->child_ms * MS,
                          [CALL_WAITS_FAULT] = it->fault_ms * MS },
            .stopped_ns = it->stopped_ms * MS,
            .faults = it->faults,
        };

        if (stall_cause_of(&looks, (int64_t)(it->duration_ms * MS), it->host_ms * MS) != it->cause)
            fail_msg("%s", it->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_is_what_most_of_the_time_went_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
