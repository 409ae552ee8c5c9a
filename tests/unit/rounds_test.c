/*
 * Wall mode's rounds over a child that has nothing of the sampler in it: no thread, no signal
 * handler. The test writes what the child's program would tell in its feed, and holds the rounds
 * itself.
 */
#include "fake_feed.h"

#include "sampler/capture/unwind/named_code.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/profile/wall/far_code.h"
#include "sampler/profile/wall/rounds.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { DEADLINE_US = 20 * 1000 * 1000, NOBODY = 65534, NAMES = 300 };

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void rest_us(long us)
{
    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

/* A child that sleeps in poll, and what the rounds see of it. */
struct scene {
    pid_t child;
    int ends[2]; /* the child sleeps until something is to be read */
    struct fake_feed feed;
    struct feed_reader *reader;
    struct rounds *rounds;
    struct subject *subject;
    uint32_t slot;
    uint64_t asleep, others; /* rounds told */
    struct feed_module_view leaf;
    bool leaf_known;
    uint32_t tag;
};

/* What stands in the child's memory, as in that of a program with a feed. */
static struct feed_head head_in_child;

static void sleep_in_child(int fd, bool closed)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (closed)
        prctl(PR_SET_DUMPABLE, 0);
    for (;;)
        poll(&wait, 1, -1);
}

/* The state's letter in /proc. */
static bool is_asleep(pid_t pid)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && !fgets(text, sizeof(text), file))
        text[0] = 0;
    if (file)
        fclose(file);
    return strstr(text, ") S ");
}

/* Not in a child that may not be looked at: it is taken for what it was, too. */
static void put_head_into_child(struct scene *scene)
{
    struct feed_head *head = &scene->feed.writer.header->head;
    struct iovec from = { head, sizeof(*head) }, to = { &head_in_child, sizeof(head_in_child) };

    head->mapped_at = (uint64_t)&head_in_child;
    process_vm_writev(scene->child, &from, 1, &to, 1, 0);
}

static void begin(struct scene *scene, bool closed)
{
    const struct feed_settings settings = { .enabled = true,
                                            .period_us = 1000,
                                            .depth_max = 64,
                                            .mode = FEED_MODE_WALL,
                                            .wall_threads = "*" };
    int64_t end_us = now_us() + DEADLINE_US;

    memset(scene, 0, sizeof(*scene));
    if (pipe(scene->ends) < 0)
        abort();
    scene->child = fork();
    if (scene->child == 0)
        sleep_in_child(scene->ends[0], closed);
    while (!is_asleep(scene->child) && now_us() < end_us)
        rest_us(1000);
    fake_feed_open(&scene->feed, scene->child);
    put_head_into_child(scene);
    scene->slot = fake_feed_thread(&scene->feed, scene->child, "sleeper");
    if (feed_reader_open(&scene->reader, fake_feed_memfd(&scene->feed)) < 0 ||
        rounds_new(&scene->rounds, NULL, NULL) < 0)
        abort();
    feed_reader_control(scene->reader, &settings);
    scene->subject = rounds_enter(scene->rounds, scene->reader, scene->child);
}

static void end(struct scene *scene)
{
    rounds_leave(scene->subject);
    rounds_free(scene->rounds);
    feed_reader_free(scene->reader);
    fake_feed_close(&scene->feed);
    kill(scene->child, SIGKILL);
    waitpid(scene->child, NULL, 0);
    close(scene->ends[0]);
    close(scene->ends[1]);
}

static void note_asleep(struct scene *scene, uint32_t state, uint64_t rounds)
{
    scene->asleep += state == FEED_STATE_SLEEP ? rounds : 0;
    scene->others += state != FEED_STATE_SLEEP ? rounds : 0;
}

static void note(struct scene *scene, const union feed_any *record)
{
    const struct feed_sample *sample = &record->sample;

    if (record->head.type == FEED_RECORD_AGAIN) {
        note_asleep(scene, FEED_SLEEPER_STATE(record->again.sleepers[0]), record->again.rounds);
        return;
    }
    note_asleep(scene, sample->state, 1);
    scene->tag = sample->tag;
    scene->leaf_known =
        sample->depth &&
        rounds_module(scene->subject, FEED_FRAME_MODULE(sample->frames[0]), &scene->leaf);
}

static void hold(struct scene *scene)
{
    const union feed_any *record;

    rounds_hold(scene->rounds, now_us());
    while ((record = feed_reader_next(scene->reader, 0, INT64_MAX)))
        note(scene, record);
}

static uint64_t lost(const struct scene *scene, enum feed_loss loss)
{
    return atomic_load(&scene->feed.writer.header->status.lost[loss]);
}

/* False: not in time. */
static bool hold_until(struct scene *scene, bool (*is_so)(const struct scene *scene))
{
    int64_t end_us = now_us() + DEADLINE_US;

    while (!is_so(scene) && now_us() < end_us) {
        hold(scene);
        rest_us(1000);
    }
    return is_so(scene);
}

static bool has_ten_rounds(const struct scene *scene)
{
    return scene->asleep >= 10;
}

static void a_sleeper_is_seen_where_it_sleeps_without_anything_of_ours_in_its_process(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, false);
    assert_true(hold_until(&scene, has_ten_rounds));
    assert_true(scene.leaf_known);
    assert_non_null(strstr(scene.leaf.path, "libc"));
    assert_int_equal(scene.others, 0);
    end(&scene);
}

static void a_late_round_counts_for_all_that_should_have_been(void **state)
{
    struct scene scene;
    uint64_t before;
    int64_t began_us;

    (void)state;
    begin(&scene, false);
    assert_true(hold_until(&scene, has_ten_rounds));
    before = scene.asleep;
    began_us = now_us();
    rest_us(200 * 1000);
    /* The first may find that the thread is looked at a little later. */
    while (scene.asleep < before + 190 && now_us() < began_us + DEADLINE_US) {
        rest_us(1000);
        hold(&scene);
    }
    assert_in_range(scene.asleep - before, 190, (uint64_t)(now_us() - began_us) / 1000 + 20);
    assert_int_equal(lost(&scene, FEED_LOSS_LATE), 0);
    end(&scene);
}

/* System calls of this process that read a file; UINT64_MAX: the kernel does not count them. */
static uint64_t reads(void)
{
    char text[512] = "", *found;
    FILE *file = fopen("/proc/self/io", "re");

    if (!file)
        return UINT64_MAX;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    found = strstr(text, "syscr: ");
    return found ? strtoull(found + strlen("syscr: "), NULL, 10) : UINT64_MAX;
}

static bool has_rested_long(const struct scene *scene)
{
    return scene->asleep >= 400;
}

static bool has_rested_longer(const struct scene *scene)
{
    return scene->asleep >= 800;
}

/* Of 25 looks and more. Two reads are those of the count itself. */
static void of_a_program_that_does_nothing_no_thread_is_read(void **state)
{
    struct scene scene;
    uint64_t before;

    (void)state;
    if (reads() == UINT64_MAX)
        skip();
    begin(&scene, false);
    assert_true(hold_until(&scene, has_rested_long));
    before = reads();
    assert_true(hold_until(&scene, has_rested_longer));
    assert_in_range(reads() - before, 0, 6);
    end(&scene);
}

static bool owes(const struct scene *scene)
{
    return atomic_load(&scene->feed.writer.threads[scene->slot].owed) > 0;
}

static void a_thread_that_goes_on_after_a_long_sleep_is_noticed(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, false);
    assert_true(hold_until(&scene, has_rested_long));
    assert_false(owes(&scene));
    assert_int_equal(write(scene.ends[1], "x", 1), 1); /* poll does not wait any more */
    assert_true(hold_until(&scene, owes));
    end(&scene);
}

static bool has_no_rights(const struct scene *scene)
{
    return lost(scene, FEED_LOSS_NO_RIGHTS) >= 10;
}

/* 0: as it should be. In a process of its own, which may have to give its rights up. */
static int look_at_closed(void)
{
    struct scene scene;
    bool told;

    begin(&scene, true);
    told = hold_until(&scene, has_no_rights);
    end(&scene);
    return told && !scene.asleep && !scene.others ? 0 : 1;
}

static void rounds_that_the_kernel_forbids_to_read_are_counted(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(2);
        prctl(PR_SET_DUMPABLE, 1);
        _exit(look_at_closed());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void code_that_the_program_told_of_is_found_from_outside(void **state)
{
    CLEANUP(named_code_clear) struct named_code code = { 0 };
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct far_code far = { getpid(), (uint64_t)(uintptr_t)&code, &feed.writer };
    struct feed_reader *reader;
    static struct code_maps maps;
    char name[FEED_NAME_MAX + 1];
    uint64_t frame;

    (void)state;
    fake_feed_open(&feed, getpid());
    assert_int_equal(feed_reader_open(&reader, fake_feed_memfd(&feed)), 0);
    assert_false(far_code_name(&far, 1000, &frame));
    for (uint64_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "f%d", (int)(i * 7 % NAMES));
        named_code_add(&code, &maps, 1000 + i * 7 % NAMES * 100, 50, name);
    }
    for (uint64_t i = 0; i < NAMES; i++) {
        char wanted[16];

        snprintf(wanted, sizeof(wanted), "f%d", (int)i);
        assert_true(far_code_name(&far, 1000 + i * 100 + 49, &frame));
        assert_int_equal(FEED_FRAME_NAME_KIND(frame), FEED_NAME_JIT);
        assert_true(feed_reader_name(reader, FEED_FRAME_NAME(frame), name));
        assert_string_equal(name, wanted);
        assert_false(far_code_name(&far, 1000 + i * 100 + 50, &frame));
    }
    assert_false(far_code_name(&far, 999, &frame));
    far.list = 8; /* nonsense */
    assert_false(far_code_name(&far, 1000, &frame));
    feed_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeper_is_seen_where_it_sleeps_without_anything_of_ours_in_its_process),
        cmocka_unit_test(a_late_round_counts_for_all_that_should_have_been),
        cmocka_unit_test(of_a_program_that_does_nothing_no_thread_is_read),
        cmocka_unit_test(a_thread_that_goes_on_after_a_long_sleep_is_noticed),
        cmocka_unit_test(rounds_that_the_kernel_forbids_to_read_are_counted),
        cmocka_unit_test(code_that_the_program_told_of_is_found_from_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
