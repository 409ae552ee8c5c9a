/*
 * loop_fixture.h - a sampler of this process whose clock does not tick, for tests of loops; its feed is read here.
 */
#ifndef LOOP_FIXTURE_H
#define LOOP_FIXTURE_H

#include "sampler/capture/loops/loop_table.h"
#include "sampler/capture/loops/loop_thread.h"
#include "sampler/capture/sampler_state.h"
#include "sampler/capture/threads/tasks.h"
#include "sampler/feed/feed_reader_loops.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static struct feed_reader *reader;

static inline void begin_feed(void)
{
    int memfd;

    assert_int_equal(feed_writer_create(&sampler.writer, &memfd, getpid(), 0), 0);
    assert_int_equal(feed_reader_open(&reader, memfd), 0);
    sampler.pid = getpid();
    atomic_store(&sampler.running, RUN_ON);
    event_epoch_begin();
}

static inline int set_up(void **state)
{
    (void)state;
    signal(SIGURG, SIG_IGN);
    sampler.threads = (struct threads){ .writer = &sampler.writer, .signal_number = SIGURG };
    sampler.threads.rights.wish = FEED_TIMER_WISH_CPU;
    if (threads_new(&sampler.threads) < 0)
        return -1;
    begin_feed();
    tasks_take_all(&sampler.threads);
    return 0;
}

static inline void end_feed(void)
{
    event_epoch_end();
    atomic_store(&sampler.running, RUN_STOPPED);
    feed_reader_free(reader);
    feed_writer_destroy(&sampler.writer);
}

static inline int tear_down(void **state)
{
    (void)state;
    loop_table_end_all(0);
    loop_thread_forget();
    threads_stop(&sampler.threads);
    end_feed();
    return 0;
}

/* What the service sees of the only loop, or the last one; none: nothing live. */
static inline uint32_t live_loop(void)
{
    struct feed_loop_marks marks;

    for (uint32_t number = feed_reader_loops(reader) - 1; number > 0; number--)
        if (feed_reader_loop_marks(reader, number, &marks) && marks.state == FEED_LOOP_LIVE)
            return number;
    return 0;
}

static inline struct feed_loop_marks marks_of(uint32_t number)
{
    struct feed_loop_marks marks;

    assert_true(feed_reader_loop_marks(reader, number, &marks));
    return marks;
}

#endif
