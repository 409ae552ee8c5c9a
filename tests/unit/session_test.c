#include "sampler/profile/saved.h"

#include "fake_elf.h"
#include "fake_feed.h"
#include "session_files.h"
#include "sampler/profile/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Offsets in the fixture's module: a and b have symbols, unnamed has none. */
enum { A = 0x1000, B = 0x1100, UNNAMED = 0x1800 };

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint64_t id;
    uint32_t slot, other_slot, module;
    int64_t time_us;
    char directory[64], path[128], session[128];
};

static void add(struct fixture *fixture, uint32_t slot, uint32_t tag, const uint64_t *frames,
                uint16_t depth)
{
    fixture->time_us += 1000;
    assert_true(fake_feed_write(&fixture->feed, slot,
                                &(struct fake_sample){ .timestamp_us = fixture->time_us,
                                                       .cpu_ns = 1000100,
                                                       .tag = tag,
                                                       .depth = depth,
                                                       .frames = frames }));
}

/* Of two threads, with and without a tag, in named and unnamed code, a JIT's, and in no module. */
static void add_samples(struct fixture *fixture)
{
    uint32_t module = fixture->module;
    uint32_t tag = feed_writer_name(&fixture->feed.writer, "a \x01 tag");
    uint32_t jit = feed_writer_name(&fixture->feed.writer, "jitted");
    const uint64_t first[] = { FEED_FRAME(module, A + 4), FEED_FRAME(module, B + 8) };
    const uint64_t second[] = { FEED_FRAME(module, UNNAMED), FEED_FRAME(module, A + 16),
                                FEED_FRAME(module, B + 8) };
    const uint64_t third[] = { FEED_FRAME_NAMED(FEED_NAME_JIT, jit), FEED_FRAME(module, B + 8),
                               0x7f0000001234 };

    for (int i = 0; i < 3; i++) {
        add(fixture, fixture->slot, 0, first, 2);
        add(fixture, fixture->other_slot, i ? tag : 0, second, 3);
        add(fixture, fixture->slot, tag, third, 3);
    }
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct fake_elf elf = { .symbols = { { "_Z1av", A, 0x100, STB_GLOBAL, STT_FUNC },
                                         { "b", B, 0x100, STB_GLOBAL, STT_FUNC } },
                            .build_id = { 1, 2, 3 } };
    struct profile_peer peer = { .pid = getpid(), .ppid = 1, .clock = -1, .exe = "/usr/bin/program" };

    fake_directory(fixture->directory);
    snprintf(fixture->path, sizeof(fixture->path), "%s/app", fixture->directory);
    snprintf(fixture->session, sizeof(fixture->session), "%s/s.isoscope", fixture->directory);
    fake_elf_write(fixture->path, &elf);
    fake_feed_open(&fixture->feed, getpid());
    fixture->slot = fake_feed_thread(&fixture->feed, 7, "main");
    fixture->other_slot = fake_feed_thread(&fixture->feed, 8, "worker");
    fixture->module = fake_feed_module(&fixture->feed, fixture->path);
    fixture->time_us = 1000000;
    *state = fixture;
    if (profile_new(&fixture->profile, &(struct profile_options){ .settings.enabled = true }) < 0)
        return -1;
    assert_int_equal(profile_attach(fixture->profile, fake_feed_memfd(&fixture->feed), &peer,
                                    &fixture->id), 0);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    profile_free(fixture->profile);
    fake_feed_close(&fixture->feed);
    unlink(fixture->path);
    unlink(fixture->session);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static void save(struct fixture *fixture)
{
    struct file_bytes file = save_bytes(fixture->profile, &(struct session_options){ 0 });

    write_bytes(fixture->session, file.data, file.count);
    free(file.data);
}

static struct profile *reopen(struct fixture *fixture)
{
    struct saved_problem problem;
    struct profile *saved = open_saved(fixture->session, &problem);

    if (!saved)
        fail_msg("at %llu: %s", (unsigned long long)problem.position, problem.reason);
    return saved;
}

static void a_saved_profile_says_what_the_live_one_said(void **state)
{
    struct fixture *fixture = *state;
    struct profile *saved;
    char *live, *after;

    add_samples(fixture);
    profile_sync(fixture->profile);
    live = tell(fixture->profile);
    save(fixture);
    saved = reopen(fixture);
    after = tell(saved);
    assert_string_equal(live, after);
    free(live);
    free(after);
    profile_free(saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_saved_profile_says_what_the_live_one_said, open_fixture,
                                        close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
