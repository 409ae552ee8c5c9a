#include "sampler/profile/recorder.h"

#include "fake_feed.h"
#include "session_files.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/parts.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { DEADLINE_MS = 20000 };

/* A profile without a feed: samples are put into its store directly. */
struct fixture {
    struct profile *profile;
    struct owner *owner;
    struct owner_thread *thread;
    int64_t time_us;
    char directory[64], path[128];
    _Atomic int finished, problems;
    char problem[512];
};

static void add(struct fixture *fixture, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t frames[3] = { FRAME_KEY(0, 0x1000 + (uint64_t)(rand() % 500) * 16),
                               FRAME_KEY(0, 0x9000 + (uint64_t)(rand() % 90) * 16),
                               FRAME_KEY(0, 0x20000) };
        struct store_sample sample = { .thread = fixture->thread,
                                       .timestamp_us = fixture->time_us += 1000,
                                       .weight = 1000000,
                                       .depth = 3,
                                       .frames = frames };

        assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME], &sample), 0);
    }
}

/* A process that the profile lists, and that ended. */
static void open_profile(struct fixture *fixture, size_t store_bytes)
{
    struct profile_options options = { .no_symbols = true, .store_bytes = store_bytes };
    const struct process_saved process = {
        .info = { .id = 77, .pid = 77, .exe = "/bin/program", .start_us = 1 }
    };

    assert_int_equal(profile_new(&fixture->profile, &options), 0);
    assert_int_equal(processes_restore(fixture->profile->processes, &process, &fixture->owner), 0);
    assert_int_equal(owner_thread_new(&fixture->thread, fixture->owner, 78, "worker"), 0);
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    strcpy(fixture->directory, "/tmp/isoscope-recorder-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/s.isoscope", fixture->directory);
    fixture->time_us = 1000000;
    open_profile(fixture, 0);
    *state = fixture;
    return 0;
}

/* The names in the folder, sorted; returns how many. */
static int list_files(const struct fixture *fixture, struct dirent ***names)
{
    int count = scandir(fixture->directory, names, NULL, alphasort), kept = 0;

    for (int i = 0; i < count; i++) {
        if (*(*names)[i]->d_name == '.')
            free((*names)[i]);
        else
            (*names)[kept++] = (*names)[i];
    }
    return kept;
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;
    struct dirent **names;
    int count = list_files(fixture, &names);
    char path[512];

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->directory, names[i]->d_name);
        unlink(path);
    }
    free_names(names, count);
    rmdir(fixture->directory);
    owner_thread_release(fixture->thread);
    profile_free(fixture->profile);
    free(fixture);
    return 0;
}

static void finished(void *context)
{
    struct fixture *fixture = context;

    fixture->finished++;
}

static void problem(void *context, const char *text)
{
    struct fixture *fixture = context;

    snprintf(fixture->problem, sizeof(fixture->problem), "%s", text);
    fixture->problems++;
}

static struct recorder *start(struct fixture *fixture, uint32_t rotate_seconds, uint32_t keep)
{
    const struct recorder_options options = { .session.context = fixture,
                                              .path = fixture->path,
                                              .rotate_seconds = rotate_seconds,
                                              .keep = keep,
                                              .problem = problem,
                                              .finished = finished };
    struct recorder *recorder;
    char why[256] = "";

    if (recorder_start(&recorder, fixture->profile, &options, why, sizeof(why)) < 0)
        fail_msg("%s", why);
    return recorder;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static struct recorder_status status_of(struct recorder *recorder)
{
    struct recorder_status status;

    recorder_status(recorder, &status);
    return status;
}

static void wait_for_samples(struct recorder *recorder, uint64_t samples)
{
    for (int ms = 0; status_of(recorder).samples < samples; ms += 10) {
        assert_true(ms < DEADLINE_MS);
        pause_ms(10);
    }
}

static void finish(struct fixture *fixture, struct recorder *recorder)
{
    recorder_finish(recorder, 0);
    for (int ms = 0; !fixture->finished; ms += 10) {
        assert_true(ms < DEADLINE_MS);
        pause_ms(10);
    }
    recorder_free(recorder);
}

static uint64_t samples_in(const char *path, bool *closed)
{
    struct saved_problem why;
    struct profile *saved = open_saved(path, &why);
    struct saved_session session;

    if (!saved)
        fail_msg("%s, at %llu: %s", path, (unsigned long long)why.position, why.reason);
    assert_int_equal(saved_sessions(saved, &session, 1), 1);
    *closed = session.closed;
    assert_int_equal(session.cut_bytes, 0);
    free(tell(saved));
    assert_false(saved_damage(saved, &why));
    profile_free(saved);
    return session.samples;
}

static void what_is_recorded_is_what_was_sampled(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder = start(fixture, 0, 0);
    struct saved_problem why;
    struct profile *saved;
    char *live, *after;

    add(fixture, 100);
    wait_for_samples(recorder, 100);
    add(fixture, 1000);
    finish(fixture, recorder);
    live = tell(fixture->profile);
    saved = open_saved(fixture->path, &why);
    after = tell(saved);
    assert_string_equal(live, after);
    free(live);
    free(after);
    profile_free(saved);
}

static void the_file_opens_from_the_start_on_and_at_every_moment(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder = start(fixture, 0, 0);
    bool closed;

    assert_int_equal(samples_in(fixture->path, &closed), 0);
    assert_false(closed);
    for (uint64_t samples = 50; samples <= 100; samples += 50) {
        add(fixture, 50);
        wait_for_samples(recorder, samples);
        assert_int_equal(samples_in(fixture->path, &closed), samples);
        assert_false(closed);
    }
    recorder_free(recorder);
    assert_int_equal(samples_in(fixture->path, &closed), 100);
    assert_true(closed);
}

static void what_the_store_let_go_is_in_the_file(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder;
    bool closed;

    owner_thread_release(fixture->thread);
    profile_free(fixture->profile);
    open_profile(fixture, STORE_BYTES_MIN);
    recorder = start(fixture, 0, 0);
    for (uint64_t samples = 10000; samples <= 60000; samples += 10000) {
        add(fixture, 10000);
        wait_for_samples(recorder, samples);
    }
    assert_true(store_counts(fixture->profile->stores.of[SAMPLES_OF_TIME], fixture->owner).evicted >
                0);
    assert_int_equal(status_of(recorder).missed, 0);
    recorder_free(recorder);
    assert_int_equal(samples_in(fixture->path, &closed), 60000);
}

static void samples_that_went_before_they_were_written_are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder;
    uint64_t written;
    bool closed;

    owner_thread_release(fixture->thread);
    profile_free(fixture->profile);
    open_profile(fixture, STORE_BYTES_MIN);
    recorder = start(fixture, 0, 0);
    add(fixture, 60000);
    recorder_free(recorder);
    written = samples_in(fixture->path, &closed);
    assert_true(written < 60000);
}

static void clearing_the_profile_does_not_take_back_what_was_recorded(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder = start(fixture, 0, 0);
    bool closed;

    add(fixture, 70);
    profile_clear(fixture->profile, 77);
    add(fixture, 30);
    profile_clear(fixture->profile, 0);
    add(fixture, 5);
    recorder_free(recorder);
    assert_int_equal(samples_in(fixture->path, &closed), 105);
}

static void files_that_rotate_are_complete_each_and_only_so_many_are_kept(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder = start(fixture, 1, 2);
    struct dirent **names;
    char path[512] = "";
    uint64_t last = 0;
    int count, files = 0;
    bool closed;

    /* Six seconds' worth of files: the oldest are gone. */
    for (int ms = 0; files < 5; ms += 20) {
        struct recorder_status status = status_of(recorder);

        assert_true(ms < DEADLINE_MS);
        files += strcmp(path, status.path) != 0;
        strcpy(path, status.path);
        add(fixture, 20);
        pause_ms(20);
    }
    recorder_free(recorder);
    count = list_files(fixture, &names);
    assert_int_equal(count, 2);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->directory, names[i]->d_name);
        last = samples_in(path, &closed);
        assert_true(closed);
        assert_true(last > 0 || i == 1);
    }
    free_names(names, count);
}

/* In a process of its own, which may not write files of more than some bytes. */
static int record_with_little_room(struct fixture *fixture)
{
    struct recorder *recorder = start(fixture, 0, 0);

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 3000, 3000 });
    for (int ms = 0; !fixture->problems; ms += 10) {
        if (ms >= DEADLINE_MS)
            return 1;
        add(fixture, 100);
        pause_ms(10);
    }
    add(fixture, 100); /* the program runs on */
    if (status_of(recorder).recording || !strstr(fixture->problem, "recording has stopped") ||
        !strstr(fixture->problem, "ulimit -f"))
        return 2;
    recorder_free(recorder);
    return fixture->problems == 1 ? 0 : 3;
}

static void a_disk_that_fills_up_ends_the_recording_at_the_last_whole_block(void **state)
{
    struct fixture *fixture = *state;
    bool closed;
    int status;
    pid_t child = fork();

    if (!child)
        _exit(record_with_little_room(fixture));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    samples_in(fixture->path, &closed);
    assert_false(closed);
}

static void a_path_that_cannot_be_is_told_before_anything_runs(void **state)
{
    static const char *const paths[] = { "/nonexistent/s.isoscope", "/tmp", "/dev/null" };
    struct fixture *fixture = *state;
    struct recorder *recorder;
    char why[256];

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct recorder_options options = { .path = paths[i] };

        assert_int_equal(recorder_start(&recorder, fixture->profile, &options, why, sizeof(why)),
                         -ISOSCOPE_SYSTEM);
        assert_non_null(strstr(why, paths[i]));
    }
}

static void a_file_that_is_there_stays_until_the_new_one_opens(void **state)
{
    struct fixture *fixture = *state;
    struct recorder *recorder;
    struct dirent **names;
    bool closed;
    int count;

    write_bytes(fixture->path, "old", 3);
    recorder = start(fixture, 0, 0);
    assert_int_equal(samples_in(fixture->path, &closed), 0);
    count = list_files(fixture, &names);
    assert_int_equal(count, 1);
    free_names(names, count);
    recorder_free(recorder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_recorded_is_what_was_sampled),
        TEST(the_file_opens_from_the_start_on_and_at_every_moment),
        TEST(what_the_store_let_go_is_in_the_file),
        TEST(samples_that_went_before_they_were_written_are_counted),
        TEST(clearing_the_profile_does_not_take_back_what_was_recorded),
        TEST(files_that_rotate_are_complete_each_and_only_so_many_are_kept),
        TEST(a_disk_that_fills_up_ends_the_recording_at_the_last_whole_block),
        TEST(a_path_that_cannot_be_is_told_before_anything_runs),
        TEST(a_file_that_is_there_stays_until_the_new_one_opens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
