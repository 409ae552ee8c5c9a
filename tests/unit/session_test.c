#include "sampler/profile/saved.h"

#include "fake_events.h"
#include "profile_fixture.h"
#include "session_craft.h"
#include "session_files.h"
#include "sampler/feed/feed_codes.h"
#include "sampler/profile/code.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/store/store_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct live_set *living; /* of add_kinds; NULL: there are none */

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

/* A runtime's function, at two lines of two files. */
static void add_codes(struct fixture *fixture)
{
    struct feed_code_text code = { .runtime = FEED_RUNTIME_CPYTHON,
                                   .lines = FEED_LINES_DIRECT,
                                   .name = "Shape.area",
                                   .file = "/srv/shapes.py",
                                   .name_bytes = 10,
                                   .file_bytes = 14,
                                   .first_line = 7 };
    uint32_t area = feed_writer_code(&fixture->feed.writer, &code), main;

    code.name = "<module>";
    code.name_bytes = 8;
    code.file = "<string>";
    code.file_bytes = 8;
    main = feed_writer_code(&fixture->feed.writer, &code);
    assert_true(area && main);
    for (uint32_t line = 9; line < 11; line++) {
        const uint64_t frames[] = { FEED_FRAME_CODE(area, line), FEED_FRAME_CODE(main, 1),
                                    FEED_FRAME(fixture->module, B + 8) };

        add(fixture, fixture->slot, 0, frames, 3);
    }
}

/* Of two threads, with and without a tag, in named and unnamed code, a JIT's, a runtime's, and in no module. */
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
    add_codes(fixture);
}

/* One that the process tells of itself: an allocation, or a wait for what its leaf names. */
static void add_own(struct fixture *fixture, enum sample_kind kind, uint64_t number)
{
    struct registry *registry = fixture->profile->registry;
    struct owner *owner = processes_owner(fixture->profile->processes, fixture->id, kind);
    uint64_t frames[] = { FRAME_KEY(registry_locks(registry),
                                    names_number(registry_names(registry), "mutex 0x1234")),
                          FRAME_KEY(0, 4096 + number % 3), FRAME_KEY(0, 16) };
    struct store_sample sample = { .kind = kind,
                                   .timestamp_us = 1000000 + (int64_t)(number * 7919 % 50000),
                                   .weight = number << 20 | number,
                                   .objects = (uint32_t)(number * 300),
                                   .wait = { (int32_t)number * 4000, (uint8_t)(number % 5) },
                                   .depth = sample_kind_is_waits(kind) ? 3 : 2,
                                   .frames = sample_kind_is_waits(kind) ? frames : frames + 1 };

    assert_int_equal(owner_thread_new(&sample.thread, owner, 7, "main"), 0);
    if (kind == SAMPLES_OF_LIVE)
        assert_int_equal(live_set_add(living, number, sample.weight, 0, &sample), 0);
    else
        assert_int_equal(store_add(fixture->profile->stores.of[kind], &sample), 0);
    owner_thread_release(sample.thread);
}

static void add_kinds(struct fixture *fixture)
{
    living =
        live_set_new(fixture->profile->stores.live,
                     processes_owner(fixture->profile->processes, fixture->id, SAMPLES_OF_LIVE));
    for (int kind = SAMPLES_OF_ALLOCATIONS; kind < SAMPLE_KINDS; kind++)
        for (uint64_t number = 0; number < 9; number++)
            add_own(fixture, (enum sample_kind)kind, number);
}

/* Of every kind, with arguments of every type, and what is not whole. */
static void add_events(struct fixture *fixture)
{
    const double number = 2.5;
    struct fake_argument arguments[4] = {
        { "signed", FEED_ARGUMENT_INT, (uint64_t)-9, NULL },
        { "count", FEED_ARGUMENT_UINT, UINT64_MAX, NULL },
        { "number", FEED_ARGUMENT_DOUBLE, 0, NULL },
        { "text", FEED_ARGUMENT_TEXT, 0, "some text \xff" },
    };
    struct fake_feed *feed = &fixture->feed;
    uint32_t slot = fixture->slot;
    int64_t at_ns = 1000000000;

    memcpy(&arguments[2].word, &number, sizeof(number));
    fake_end(feed, slot, at_ns);
    fake_begin(feed, slot, at_ns + 1000, "outer");
    fake_event(feed, slot, FEED_EVENT_BEGIN, at_ns + 1100, "inner", 0, 0, arguments, 2);
    fake_end(feed, slot, at_ns + 1200);
    for (int phase = FEED_EVENT_INSTANT; phase <= FEED_EVENT_COUNTER; phase++)
        fake_event(feed, slot, (enum feed_event_phase)phase, at_ns + 2000 + phase, "what",
                   1u << phase, 0, arguments, (uint32_t)phase % 5);
    fake_event(feed, fixture->other_slot, FEED_EVENT_COMPLETE, at_ns - 5000, "complete", 0, 9000,
               NULL, 0);
    fake_event(feed, fixture->other_slot, FEED_EVENT_FRAME, at_ns, "frame", 17, 16666666, NULL, 0);
    fake_end(feed, slot, at_ns + 9000);
    fake_event(feed, slot, FEED_EVENT_BEGIN, at_ns + 9500, "open", 0, 0, arguments, 4);
}

static int open_fixture(void **state)
{
    static const uint8_t build_id[20] = { 1, 2, 3 };
    struct fixture *fixture = *state = fixture_begin(build_id);

    fixture->other_slot = fake_feed_thread(&fixture->feed, 8, "worker");
    fixture->time_us = 1000000;
    return fixture_attach(fixture);
}

static int close_fixture(void **state)
{
    live_set_free(living);
    living = NULL;
    return fixture_end(*state);
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
    add_kinds(fixture);
    add_events(fixture);
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

static bool lives_no_more(const void *context, uint64_t mark)
{
    (void)context;
    (void)mark;
    return false;
}

static uint32_t no_level(const void *context)
{
    (void)context;
    return 0;
}

static void what_lives_is_told_as_it_is_when_it_is_saved(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_window window = { .kind = SAMPLES_OF_LIVE };
    struct snapshot *snapshot;
    struct profile *saved;

    add_kinds(fixture);
    save(fixture);
    live_set_sweep(living, &(struct live_table){ lives_no_more, no_level, NULL });
    for (uint64_t number = 20; number < 22; number++)
        add_own(fixture, SAMPLES_OF_LIVE, number);
    save(fixture);
    saved = reopen(fixture);
    assert_int_equal(snapshot_take(&snapshot, saved, &window), 0);
    assert_int_equal(snapshot_sample_count(snapshot), 2);
    snapshot_free(snapshot);
    profile_free(saved);
}

/* Bad input: what a file may be instead. */

static struct file_bytes small_session(struct fixture *fixture)
{
    add_samples(fixture);
    add_kinds(fixture);
    add_events(fixture);
    profile_sync(fixture->profile);
    return save_bytes(fixture->profile, &(struct session_options){ 0 });
}

static void cut_off_anywhere_it_opens_with_what_is_complete_or_says_where(void **state)
{
    struct fixture *fixture = *state;
    struct file_bytes file = small_session(fixture);
    struct saved_problem problem;
    size_t opened = 0, first = 0;

    for (size_t count = 0; count < file.count; count++) {
        if (!opens(fixture->session, file.data, count, &problem))
            continue;
        first = opened++ ? first : count;
    }
    /* From the first block on, always. */
    assert_int_equal(opened, file.count - first);
    assert_true(first < 400);
    free(file.data);
}

static void any_bit_that_is_another_is_told_with_its_place(void **state)
{
    struct fixture *fixture = *state;
    struct file_bytes file = small_session(fixture);
    struct saved_problem problem;

    for (size_t i = 0; i < file.count; i++) {
        file.data[i] ^= (uint8_t)(1u << i % 8);
        if (opens(fixture->session, file.data, file.count, &problem))
            fail_msg("with another bit at %zu it opens", i);
        assert_true(problem.position <= i);
        file.data[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_true(opens(fixture->session, file.data, file.count, &problem));
    free(file.data);
}

static void zeros_behind_the_last_block_are_what_a_machine_left_that_died(void **state)
{
    struct fixture *fixture = *state;
    struct file_bytes file = small_session(fixture);
    struct saved_session session;
    struct saved_problem problem;
    struct profile *saved;

    file.data = realloc(file.data, file.count + 5000);
    memset(file.data + file.count, 0, 5000);
    assert_true(opens(fixture->session, file.data, file.count + 5000, &problem));
    saved = open_saved(fixture->session, &problem);
    assert_int_equal(saved_sessions(saved, &session, 1), 1);
    assert_int_equal(session.cut_bytes, 5000);
    profile_free(saved);
    file.data[file.count + 4000] = 1;
    assert_false(opens(fixture->session, file.data, file.count + 5000, &problem));
    assert_int_equal(problem.position, file.count);
    free(file.data);
}

/* Several files, small memory, names that come later. */

static struct profile *open_options(const struct saved_options *options, const char *const *files,
                                    size_t count)
{
    struct saved_problem problem;
    struct profile *saved;

    if (profile_open_saved(&saved, options, files, count, &problem) < 0)
        fail_msg("file %zu at %llu: %s", problem.file, (unsigned long long)problem.position,
                 problem.reason);
    return saved;
}

static void craft_one_sample(const char *path, const char *head)
{
    static const uint64_t good[] = { 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 0 };
    struct bytes columns = { 0 };
    struct craft craft;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", head);
    craft_json(&craft, "MODS", MODULE);
    craft_json(&craft, "PROC", PROCESS);
    craft_json(&craft, "THRD", THREAD);
    craft_json(&craft, "PIEC", PIECE);
    put_columns(good, 13, &columns);
    craft_bytes(&craft, "SMPL", BLOCK_FRAME_CHUNK, columns.data, columns.count);
    write_bytes(path, craft.file.data, craft.file.count);
    bytes_free(&columns);
    craft_end(&craft);
}

static void check_times(const char *const *files, enum saved_align align, int64_t first_us,
                        int64_t last_us)
{
    struct profile *saved = open_options(&(struct saved_options){ .align = align }, files, 2);

    assert_int_equal(profile_history(saved).first_us, first_us);
    assert_int_equal(profile_history(saved).last_us, last_us);
    profile_free(saved);
}

/* One sample of each, 7 us on its clock: 6 us after the start of one, 2 us after the other's. */
static void several_files_are_on_one_time_line(void **state)
{
    struct fixture *fixture = *state;
    char other[160];
    const char *files[] = { fixture->session, other }, *turned[] = { other, fixture->session };

    snprintf(other, sizeof(other), "%s.2", fixture->session);
    craft_one_sample(fixture->session, "{\"startUs\":1,\"wallStartUs\":101}");
    craft_one_sample(other, "{\"startUs\":5,\"wallStartUs\":111}");
    check_times(files, SAVED_ALIGN_START, 3, 7);
    check_times(files, SAVED_ALIGN_CLOCK, 7, 13);
    check_times(turned, SAVED_ALIGN_START, 7, 11);
    check_times(turned, SAVED_ALIGN_CLOCK, 7, 13);
    unlink(other);
}

static void several_files_are_one_profile(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_window window = { 0 };
    struct process_info infos[4];
    struct snapshot *one, *both;
    struct profile *saved;
    uint32_t count, count_both;

    add_samples(fixture);
    profile_sync(fixture->profile);
    save(fixture);
    saved = open_options(&(struct saved_options){ 0 },
                         (const char *[]){ fixture->session, fixture->session }, 2);
    assert_int_equal(profile_processes(saved, infos, 4), 2);
    assert_int_equal(infos[0].id, getpid());
    assert_int_equal(infos[1].id, getpid() + 10000000);
    assert_int_equal(infos[0].samples, infos[1].samples);
    assert_int_equal(snapshot_take(&one, fixture->profile, &window), 0);
    assert_int_equal(snapshot_take(&both, saved, &window), 0);
    assert_int_equal(snapshot_sample_count(both), 2 * snapshot_sample_count(one));
    const struct snapshot_function *functions = snapshot_functions(one, &count);
    const struct snapshot_function *of_both = snapshot_functions(both, &count_both);
    assert_int_equal(count, count_both);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(functions[i].id, of_both[i].id);
        assert_int_equal(2 * functions[i].inclusive, of_both[i].inclusive);
    }
    snapshot_free(one);
    snapshot_free(both);
    profile_free(saved);
}

static bool has_function(const struct snapshot_function *functions, uint32_t count,
                         const struct snapshot_function *wanted)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(functions[i].name, wanted->name) &&
            !strcmp(functions[i].full_name, wanted->full_name) &&
            !strcmp(functions[i].raw_name, wanted->raw_name))
            return true;
    return false;
}

/* The texts of a file's blocks are gone when it is open. */
static void functions_of_a_second_file_have_their_names(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_window window = { 0 };
    const struct snapshot_function *functions, *of_both;
    struct snapshot *one, *both;
    struct profile *saved;
    char other[160];
    uint32_t count, count_both;

    snprintf(other, sizeof(other), "%s.2", fixture->session);
    craft_one_sample(other, "{\"startUs\":1,\"wallStartUs\":101}");
    add_samples(fixture);
    profile_sync(fixture->profile);
    save(fixture);
    saved =
        open_options(&(struct saved_options){ 0 }, (const char *[]){ other, fixture->session }, 2);
    assert_int_equal(snapshot_take(&one, fixture->profile, &window), 0);
    assert_int_equal(snapshot_take(&both, saved, &window), 0);
    functions = snapshot_functions(one, &count);
    of_both = snapshot_functions(both, &count_both);
    assert_true(count > 1);
    for (uint32_t i = 0; i < count; i++)
        assert_true(has_function(of_both, count_both, &functions[i]));
    snapshot_free(one);
    snapshot_free(both);
    profile_free(saved);
    unlink(other);
}

/* Chunks of half a megabyte, and room for one. */
static void however_small_the_memory_nothing_is_dropped(void **state)
{
    struct fixture *fixture = *state;
    struct owner *owner;
    struct owner_thread *thread;
    struct profile *saved;
    uint64_t shown = 0;

    assert_int_equal(owner_new(&owner, fixture->id), 0);
    assert_int_equal(owner_thread_new(&thread, owner, 9, "many"), 0);
    for (int64_t i = 0; i < 200000; i++) {
        uint64_t frames[2] = { FRAME_KEY(0, (uint64_t)(i % 5000) * 16), FRAME_KEY(0, 7) };
        struct store_sample sample = {
            .thread = thread, .timestamp_us = 1000 + i, .depth = 2, .frames = frames
        };

        assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME], &sample), 0);
    }
    save(fixture);
    owner_thread_release(thread);
    owner_release(owner);
    saved = open_options(&(struct saved_options){ .store_bytes = 1 },
                         (const char *[]){ fixture->session }, 1);
    for (int turn = 0; turn < 2; turn++)
        for (int64_t from_us = 1000; from_us < 201000; from_us += 10000) {
            struct snapshot_window window = { .bounded = true,
                                              .origin_us = from_us,
                                              .extent_us = 9999 };
            struct snapshot *snapshot;

            assert_int_equal(snapshot_take(&snapshot, saved, &window), 0);
            shown += snapshot_sample_count(snapshot);
            snapshot_free(snapshot);
            assert_true(saved->stores.of[SAMPLES_OF_TIME]->loaded_bytes <=
                        saved->stores.of[SAMPLES_OF_TIME]->bytes_max);
        }
    assert_int_equal(shown, 400000);
    profile_free(saved);
}

static void names_that_a_session_does_not_have_come_from_a_machine_that_does(void **state)
{
    struct fixture *fixture = *state;
    struct profile_peer peer = {
        .pid = getpid(), .ppid = 1, .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };
    struct profile_options options = { .settings.enabled = true, .no_symbols = true };
    struct profile *saved;
    struct file_bytes file;
    char *text;

    profile_free(fixture->profile);
    assert_int_equal(profile_new(&fixture->profile, &options), 0);
    assert_int_equal(profile_attach(fixture->profile, fake_feed_memfd(&fixture->feed), &peer, NULL),
                     0);
    add_samples(fixture);
    profile_sync(fixture->profile);
    save(fixture);
    saved = reopen(fixture);
    text = tell(saved);
    assert_null(strstr(text, " a() "));
    assert_non_null(strstr(text, "app+0x1004"));
    free(text);
    profile_free(saved);

    saved = open_options(&(struct saved_options){ .symbolize = true },
                         (const char *[]){ fixture->session }, 1);
    file = save_bytes(saved, &(struct session_options){ 0 });
    profile_free(saved);
    write_bytes(fixture->session, file.data, file.count);
    free(file.data);
    unlink(fixture->path);
    saved = reopen(fixture);
    text = tell(saved);
    assert_non_null(strstr(text, "function functions/1/1000 a "));
    assert_non_null(strstr(text, "function functions/1/1100 b "));
    free(text);
    profile_free(saved);
}

static const char *code_reason(struct profile *profile, const char *id)
{
    const struct code_listing *listing;
    struct code_request *request;
    const char *reason;

    assert_int_equal(profile_code_ask(&request, profile, id, 0), 0);
    listing = profile_code_listing(request);
    assert_non_null(listing);
    reason = listing->reason;
    profile_code_free(request);
    return reason;
}

static void code_is_that_of_the_same_build_or_there_is_a_reason(void **state)
{
    struct fixture *fixture = *state;
    struct fake_elf another = { .build_id = { 4, 5, 6 } };
    struct profile *saved;

    add_samples(fixture);
    profile_sync(fixture->profile);
    save(fixture);
    fake_elf_write(fixture->path, &another);
    saved = reopen(fixture);
    assert_non_null(strstr(code_reason(saved, "functions/1/1000"), "another build"));
    profile_free(saved);
    unlink(fixture->path);
    saved = reopen(fixture);
    assert_non_null(strstr(code_reason(saved, "functions/1/1000"), "no such file"));
    profile_free(saved);
}

/* Tables of a file as the page has them. */

static void add_mapping(void *context, const char *path, uint64_t rss_bytes)
{
    char *text = context;

    sprintf(text + strlen(text), "%s %llu;", path, (unsigned long long)rss_bytes);
}

static void craft_tables(struct craft *craft)
{
    craft_begin(craft);
    craft_json(craft, "HEAD", HEAD);
    craft_json(craft, "MODS", MODULE);
    craft_json(craft, "PROC", PROCESS);
}

static struct profile *open_craft(struct fixture *fixture, struct craft *craft)
{
    write_bytes(fixture->session, craft->file.data, craft->file.count);
    craft_end(craft);
    return reopen(fixture);
}

static void facts_are_those_that_were_seen_last(void **state)
{
    struct fixture *fixture = *state;
    char cpu[64], mappings[256] = "";
    struct profile *saved;
    struct craft craft;
    size_t length;
    char *text;

    craft_tables(&craft);
    craft_json(&craft, "FACT",
               "{\"process\":5,\"memory\":{\"rss\":1,\"rssMax\":2},\"mappings\":[[\"/old\",1]]}");
    craft_json(&craft, "FACT",
               "{\"process\":5,\"memory\":{\"rss\":3,\"rssMax\":4},\"mappings\":[[\"/m\",8]]}");
    craft_json(&craft, "FACT", "{\"process\":5,\"mappings\":[[\"\",9]]}");
    craft_json(&craft, "FACT", "{\"process\":5,\"memory\":{\"rss\":5,\"rssMax\":6}}");
    craft_bytes(&craft, "SRCE", BLOCK_FRAME_OWN, "/a.c\0int x;", 11);
    saved = open_craft(fixture, &craft);
    assert_int_equal(profile_memory(saved, 5).rss_bytes, 5);
    assert_int_equal(profile_memory(saved, 5).rss_max_bytes, 6);
    assert_int_equal(profile_memory(saved, 6).rss_bytes, 0);
    profile_mappings(saved, 5, add_mapping, mappings);
    assert_string_equal(mappings, "/m 8; 9;");
    profile_host_cpu(saved, cpu, sizeof(cpu));
    assert_string_equal(cpu, "");
    text = profile_source_text(saved, "/a.c", &length);
    assert_string_equal(text, "int x;");
    assert_int_equal(length, 6);
    free(text);
    assert_null(profile_source_text(saved, "/b.c", &length));
    profile_free(saved);
}

static void how_a_process_ended_is_told_as_it_was(void **state)
{
    struct fixture *fixture = *state;
    struct process_info infos[3];
    struct saved_session session;
    struct profile *saved;
    struct craft craft;

    craft_tables(&craft);
    craft_json(
        &craft, "PROC",
        "{\"processes\":[{\"id\":6,\"pid\":6,\"exe\":\"/y\",\"endUs\":90,\"endNumber\":1,"
        "\"waitStatus\":139,\"started\":true,\"status\":{\"ticks\":5,\"lost\":{\"overrun\":3}}}]}");
    craft_json(&craft, "STAT", "{\"own\":1}");
    craft_json(&craft, "ENDS", "{\"endUs\":100}");
    saved = open_craft(fixture, &craft);
    assert_int_equal(profile_processes(saved, infos, 3), 2);
    assert_false(infos[0].live || infos[1].live);
    assert_false(infos[0].exit_known);
    assert_int_equal(infos[0].end_number, 2); /* it lived on: after those that ended */
    assert_true(infos[1].exit_known && infos[1].started);
    assert_int_equal(infos[1].wait_status, 139);
    assert_int_equal(infos[1].end_us, 90);
    assert_int_equal(infos[1].end_number, 1);
    assert_int_equal(infos[1].status.ticks, 5);
    assert_int_equal(infos[1].status.lost[FEED_LOSS_OVERRUN], 3);
    assert_int_equal(saved_sessions(saved, &session, 1), 1);
    assert_true(session.closed);
    assert_string_equal(session.state, "{\"own\":1}");
    assert_int_equal(saved_now_us(saved), 100);
    profile_free(saved);
}

/* Two records that turned out to be one: both ids are good. */
static void a_function_is_found_by_each_of_its_ids(void **state)
{
    struct fixture *fixture = *state;
    struct profile_function found;
    struct profile *saved;
    struct craft craft;

    craft_tables(&craft);
    craft_json(
        &craft, "FUNC",
        "{\"files\":[[4,\"/a.c\"]],\"functions\":{\"number\":[2,7],\"module\":[1,1],"
        "\"start\":[null,4096],\"size\":[0,16],\"byNumber\":[1,0],\"name\":[\"f\",\"f\"],"
        "\"fullName\":[\"f(int)\",null],\"rawName\":[null,null],\"file\":[4,0],\"line\":[3,0]},"
        "\"same\":[[7,2]]}");
    saved = open_craft(fixture, &craft);
    assert_true(profile_function(saved, "functions/1/i2", &found));
    assert_string_equal(found.function.full_name, "f(int)");
    assert_string_equal(found.function.file, "/a.c");
    assert_int_equal(found.function.file_number, 4);
    assert_true(profile_function(saved, "functions/1/1000", &found));
    assert_string_equal(found.function.id, "functions/1/i2");
    assert_false(profile_function(saved, "functions/1/i7", &found));
    assert_false(profile_function(saved, "functions/1/i3", &found));
    profile_free(saved);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_saved_profile_says_what_the_live_one_said),
        TEST(what_lives_is_told_as_it_is_when_it_is_saved),
        TEST(cut_off_anywhere_it_opens_with_what_is_complete_or_says_where),
        TEST(any_bit_that_is_another_is_told_with_its_place),
        TEST(zeros_behind_the_last_block_are_what_a_machine_left_that_died),
        TEST(facts_are_those_that_were_seen_last),
        TEST(how_a_process_ended_is_told_as_it_was),
        TEST(a_function_is_found_by_each_of_its_ids),
        TEST(several_files_are_on_one_time_line),
        TEST(several_files_are_one_profile),
        TEST(functions_of_a_second_file_have_their_names),
        TEST(however_small_the_memory_nothing_is_dropped),
        TEST(names_that_a_session_does_not_have_come_from_a_machine_that_does),
        TEST(code_is_that_of_the_same_build_or_there_is_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
