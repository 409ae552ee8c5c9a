/* Each reason why a function has no instructions, brought about. */
#include "sampler/profile/code.h"

#include "fake_elf.h"
#include "fake_feed.h"
#include "session_files.h"
#include "skip_because.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Offsets in the module: "a" has a symbol, unnamed has none. */
enum { A = 0x1000, UNNAMED = 0x1800, COMPILED_BYTES = 0x2000 };

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint32_t slot;
    char directory[64], path[128];
};

static void open_profile(struct fixture *fixture, bool no_symbols)
{
    const struct profile_options options = { .settings.enabled = true, .no_symbols = no_symbols };
    const struct profile_peer peer = {
        .pid = getpid(), .ppid = 1, .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };

    assert_int_equal(profile_new(&fixture->profile, &options), 0);
    assert_int_equal(profile_attach(fixture->profile, fake_feed_memfd(&fixture->feed), &peer, NULL),
                     0);
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const struct fake_elf elf = { .symbols = { { "a", A, 0x100, STB_GLOBAL, STT_FUNC } } };

    fake_directory(fixture->directory);
    snprintf(fixture->path, sizeof(fixture->path), "%s/app", fixture->directory);
    fake_elf_write(fixture->path, &elf);
    fake_feed_open(&fixture->feed, getpid());
    fixture->slot = fake_feed_thread(&fixture->feed, 7, "main");
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    profile_free(fixture->profile);
    fake_feed_close(&fixture->feed);
    fake_directory_remove(fixture->directory);
    free(fixture);
    return 0;
}

static void sample(struct fixture *fixture, uint64_t frame)
{
    assert_true(FAKE_SAMPLE(&fixture->feed, fixture->slot, 1000, frame));
    profile_sync(fixture->profile);
}

static void sample_in_module(struct fixture *fixture, uint64_t offset)
{
    sample(fixture, FEED_FRAME(fake_feed_module(&fixture->feed, fixture->path), offset));
}

/* Its id. */
static void find_function(char id[40], struct profile *profile, const char *name)
{
    const struct snapshot_function *functions;
    struct snapshot_window window = { 0 };
    struct snapshot *snapshot;
    uint32_t count, i = 0;

    assert_int_equal(snapshot_take(&snapshot, profile, &window), 0);
    functions = snapshot_functions(snapshot, &count);
    while (i < count && strcmp(functions[i].name, name))
        i++;
    if (i == count)
        fail_msg("%s was not seen", name);
    memcpy(id, functions[i].id, sizeof(functions[i].id));
    snapshot_free(snapshot);
}

static const char *reason_from(struct profile *profile, const char *name, uint64_t from)
{
    const struct code_listing *listing;
    struct code_request *request;
    const char *reason;
    char id[40];

    find_function(id, profile, name);
    assert_int_equal(profile_code_ask(&request, profile, id, from), 0);
    listing = profile_code_listing(request);
    assert_non_null(listing);
    reason = listing->reason;
    profile_code_free(request);
    return reason;
}

static const char *reason_of(struct profile *profile, const char *name)
{
    return reason_from(profile, name, 0);
}

/* All that looks into the file needs it. */
#define skip_without_capstone(reason)                                                              \
    if ((reason) && strstr(reason, "without capstone"))                                            \
    skip_because(reason)

static void what_a_jit_made_or_an_interpreter_runs_has_no_code_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    uint32_t jitted = feed_writer_name(&fixture->feed.writer, "jitted");
    uint32_t script = feed_writer_name(&fixture->feed.writer, "script");

    open_profile(fixture, false);
    sample(fixture, FEED_FRAME_NAMED(FEED_NAME_JIT, jitted));
    sample(fixture, FEED_FRAME_NAMED(FEED_NAME_INTERPRETED, script));
    sample(fixture, 0x7f0000001234);
    assert_string_equal(reason_of(fixture->profile, "jitted"),
                        "a JIT made its code: of that a profile has the name only");
    assert_string_equal(reason_of(fixture->profile, "script"),
                        "it is interpreted: it has no machine code");
    assert_string_equal(reason_of(fixture->profile, "[unknown]+0x7f0000001234"),
                        "its code is in no file");
}

static void a_function_that_is_only_inlined_has_its_code_in_its_callers(void **state)
{
    struct fixture *fixture = *state;
    const char *reason;
    char command[1024];
    uint32_t module;

    snprintf(command, sizeof(command),
             "cd %s && printf 'static inline __attribute__((always_inline)) long step(long n)\n"
             "{ long sum = n; for (long i = 0; i < n; i++) sum += i * sum; return sum; }\n"
             "int main(int n, char **v) { return (int)step(n + v[0][0]); }\n' >one.c && "
             "cc -g -O1 one.c -o app",
             fixture->directory);
    assert_int_equal(system(command), 0);
    open_profile(fixture, false);
    module = fake_feed_module(&fixture->feed, fixture->path);
    for (uint64_t offset = 0; offset < COMPILED_BYTES; offset++)
        sample(fixture, FEED_FRAME(module, offset));
    assert_string_equal(reason_of(fixture->profile, "step"),
                        "it is inlined wherever it was seen: its code is in its callers'");
    reason = reason_of(fixture->profile, "main");
    skip_without_capstone(reason);
    assert_null(reason);
}

/* The fixture's file has symbols, and no code behind them. */
static void code_that_the_file_does_not_tell_of_has_a_reason(void **state)
{
    struct fixture *fixture = *state;
    const char *reason;

    open_profile(fixture, false);
    sample_in_module(fixture, A + 4);
    sample_in_module(fixture, UNNAMED);
    reason = reason_of(fixture->profile, "a");
    skip_without_capstone(reason);
    assert_string_equal(reason, "the file does not have its code");
    assert_string_equal(reason_from(fixture->profile, "a", A + 0x100),
                        "it has no code from that offset on");
    assert_string_equal(reason_of(fixture->profile, "app+0x1800"),
                        "neither a symbol nor unwind data says where it begins and ends");
}

static void without_symbols_no_file_is_read(void **state)
{
    struct fixture *fixture = *state;

    open_profile(fixture, true);
    sample_in_module(fixture, A);
    assert_string_equal(reason_of(fixture->profile, "app+0x1000"),
                        "isoscope runs with --no-symbols: it reads no files");
}

static void of_a_session_a_file_without_a_build_id_may_be_another_one(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct file_bytes file;
    struct profile *saved;
    char session[128];

    open_profile(fixture, false);
    sample_in_module(fixture, A);
    file = save_bytes(fixture->profile, &(struct session_options){ 0 });
    snprintf(session, sizeof(session), "%s/s.isoscope", fixture->directory);
    write_bytes(session, file.data, file.count);
    free(file.data);
    saved = open_saved(session, &problem);
    assert_non_null(saved);
    assert_string_equal(reason_of(saved, "a"),
                        "it has no build id: another file may lie there now");
    profile_free(saved);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        TEST(what_a_jit_made_or_an_interpreter_runs_has_no_code_of_its_own),
        TEST(a_function_that_is_only_inlined_has_its_code_in_its_callers),
        TEST(code_that_the_file_does_not_tell_of_has_a_reason),
        TEST(without_symbols_no_file_is_read),
        TEST(of_a_session_a_file_without_a_build_id_may_be_another_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
