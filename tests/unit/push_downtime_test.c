/* An engine that is down for long, by a clock of the test's: what is kept, tried, dropped and counted. */
#include "push_folder.h"
#include "server/push/push_verdict.h"

#include <string.h>

enum { BEGIN_MS = 1700000000, SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, STEP_MS = 250 };
enum { WINDOW_MS = 10 * SECOND_MS, FILE_BYTES = 1000 };

struct engine {
    int64_t down_ms;  /* from the begin on */
    long status;      /* then; 0: nobody listens */
    long asks_s;      /* Retry-After */
    unsigned windows; /* that were sampled */
    unsigned tries, sent;
    int64_t gap_ms, last_ms; /* the longest wait between two tries; when the last one was */
    int64_t newest_ms;       /* the begin of what was sent last */
};

static void sample_window(struct push_queue *queue, struct engine *engine, int64_t now_ms)
{
    struct push_profile profile = { .kind = "process_cpu",
                                    .begin_ms = now_ms - WINDOW_MS,
                                    .end_ms = now_ms };
    char bytes[FILE_BYTES] = "";

    push_label_add(&profile.labels, "service_name", "web");
    assert_int_equal(push_queue_put(queue, &profile, bytes, sizeof(bytes)), 0);
    engine->windows++;
}

/* As the sender does: one after the other, until one finds no engine. Returns how long to wait. */
static uint32_t send_all(struct push_queue *queue, struct engine *engine, int64_t now_ms,
                         unsigned *failures)
{
    struct push_entry entry;

    while (push_queue_take(queue, now_ms, &entry)) {
        bool down = now_ms < BEGIN_MS + engine->down_ms;
        enum push_verdict verdict = push_verdict(PUSH_OTLP, down ? engine->status : 200);

        if (engine->tries++ && now_ms - engine->last_ms > engine->gap_ms)
            engine->gap_ms = now_ms - engine->last_ms;
        engine->last_ms = now_ms;
        push_queue_done(queue, &entry, verdict != PUSH_AGAIN);
        if (verdict == PUSH_AGAIN)
            return push_wait_ms(++*failures, engine->asks_s, engine->tries * 2654435761u);
        assert_true(entry.profile.begin_ms > engine->newest_ms); /* in order, and none twice */
        engine->newest_ms = entry.profile.begin_ms;
        engine->sent++;
        *failures = 0;
    }
    return 0;
}

static void live(struct push_queue *queue, struct engine *engine, int64_t for_ms)
{
    int64_t next_try_ms = BEGIN_MS;
    unsigned failures = 0;

    for (int64_t ms = STEP_MS; ms <= for_ms; ms += STEP_MS) {
        if (ms % WINDOW_MS == 0)
            sample_window(queue, engine, BEGIN_MS + ms);
        if (BEGIN_MS + ms >= next_try_ms)
            next_try_ms = BEGIN_MS + ms + send_all(queue, engine, BEGIN_MS + ms, &failures);
    }
}

static void ten_minutes_without_an_engine_lose_nothing(void **state)
{
    struct engine engine = { .down_ms = 10 * MINUTE_MS };
    struct push_queue *queue = open_queue(64 << 20);

    (void)state;
    live(queue, &engine, 12 * MINUTE_MS);
    assert_int_equal(engine.windows, 72);
    assert_int_equal(engine.sent, 72);
    assert_int_equal(push_queue_waiting(queue), 0);
    assert_int_equal(push_queue_dropped(queue) + push_queue_aged(queue), 0);
    assert_in_range(engine.tries - engine.sent, 10, 30); /* a minute apart, less up to half of it */
    assert_in_range(engine.gap_ms, 30 * SECOND_MS, MINUTE_MS + STEP_MS);
    push_queue_free(queue);
}

static void where_it_asks_for_longer_it_is_left_alone_for_longer(void **state)
{
    struct engine engine = { .down_ms = 10 * MINUTE_MS, .status = 429, .asks_s = 150 };
    struct push_queue *queue = open_queue(64 << 20);

    (void)state;
    live(queue, &engine, 14 * MINUTE_MS);
    assert_int_equal(engine.sent, engine.windows);
    assert_in_range(engine.tries - engine.sent, 4, 5);
    assert_int_equal(push_queue_dropped(queue) + push_queue_aged(queue), 0);
    push_queue_free(queue);
}

/* What the bound does not allow: the oldest go, each counted. */
static void a_small_queue_keeps_the_newest_and_counts_the_rest(void **state)
{
    struct engine engine = { .down_ms = 10 * MINUTE_MS };
    struct push_queue *queue = open_queue(20 * (FILE_BYTES + 64));
    uint64_t dropped;

    (void)state;
    live(queue, &engine, 11 * MINUTE_MS);
    dropped = push_queue_dropped(queue);
    assert_int_equal(push_queue_waiting(queue), 0);
    assert_in_range(dropped, 30, 45);
    assert_int_equal(engine.sent + dropped, engine.windows);
    assert_int_equal(push_queue_aged(queue), 0);
    push_queue_free(queue);
}

static void what_is_older_than_an_hour_goes_and_is_counted(void **state)
{
    struct engine engine = { .down_ms = 90 * MINUTE_MS, .status = 503 };
    struct push_queue *queue = open_queue(64 << 20);
    uint64_t aged;

    (void)state;
    live(queue, &engine, 92 * MINUTE_MS);
    aged = push_queue_aged(queue);
    assert_int_equal(engine.windows, 92 * 6);
    assert_int_equal(engine.sent + aged, engine.windows);
    assert_in_range(aged, 29 * 6, 32 * 6);
    assert_int_equal(push_queue_dropped(queue), 0);
    push_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(ten_minutes_without_an_engine_lose_nothing),
        IN_A_FOLDER(where_it_asks_for_longer_it_is_left_alone_for_longer),
        IN_A_FOLDER(a_small_queue_keeps_the_newest_and_counts_the_rest),
        IN_A_FOLDER(what_is_older_than_an_hour_goes_and_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
