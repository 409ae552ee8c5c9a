/*
 * Wire cases: tests/protocol/<method or subject>/<what_happens>.json, each one a test.
 *
 *     { "request": {...} or "raw text", "response": {...} }
 *     { "steps": [ { "act": "process_100_ends", "request": ..., "responses": [...], "close": 4000 }
 * ] }
 *
 * A step with "client": "B" is another client's (there are "A" to "D", and "A" is who speaks where
 * none is named); "leaves": true ends it. "allowDds": true beside the steps is that option's;
 * "saved": true is a service over session files. "attaches": true is one of all programs of a user, of
 * which 300 ("idle") could be attached to, and nothing else.
 *
 * No response and no close: nothing may come. In a response the text "<integer>", "<real>",
 * "<string>", "<list>", "<object>" or "<any>" stands for any value of that kind, and the member
 * "..." (or the last list item "...") for whatever else is there.
 */
#include "talk.h"

#include "../../sampler/profile/control.h"

#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && !strcmp(json_string_value(value), text);
}

static bool stands_for(const json_t *pattern, const json_t *value)
{
    return is_text(pattern, "<any>") || (is_text(pattern, "<integer>") && json_is_integer(value)) ||
           (is_text(pattern, "<real>") && json_is_real(value)) ||
           (is_text(pattern, "<string>") && json_is_string(value)) ||
           (is_text(pattern, "<list>") && json_is_array(value)) ||
           (is_text(pattern, "<object>") && json_is_object(value));
}

static bool matches(const json_t *pattern, const json_t *value);

static bool object_matches(json_t *pattern, const json_t *value)
{
    bool open = json_object_get(pattern, "...") != NULL;
    const char *key;
    json_t *member;

    if (!json_is_object(value))
        return false;
    json_object_foreach(pattern, key,
                        member) if (strcmp(key, "...") &&
                                    !matches(member, json_object_get(value, key))) return false;
    return open || json_object_size(pattern) == json_object_size(value);
}

static bool list_matches(const json_t *pattern, const json_t *value)
{
    size_t count = json_array_size(pattern);
    bool open = count && is_text(json_array_get(pattern, count - 1), "...");

    count -= open;
    if (!json_is_array(value) || json_array_size(value) < count ||
        (!open && json_array_size(value) > count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!matches(json_array_get(pattern, i), json_array_get(value, i)))
            return false;
    return true;
}

static bool matches(const json_t *pattern, const json_t *value)
{
    if (!value)
        return false;
    if (json_is_object(pattern))
        return object_matches((json_t *)pattern, value);
    if (json_is_array(pattern))
        return list_matches(pattern, value);
    return stands_for(pattern, value) || json_equal((json_t *)pattern, (json_t *)value);
}

/* Of two modules; those of the first are there. */
static void set_names(struct profile *profile, bool pending)
{
    profile->pending = pending;
    profile->symbols.asked = 2;
    profile->symbols.done = pending ? 1 : 2;
    profile->symbols.finished++;
}

/* A tenth of a second before fake_monotonic_us. Included: frames stand in another file than their
 * function, or on no known line. */
static void add_recent_sample(struct profile *profile, bool included)
{
    static const struct fake_sample recent[] = {
        { 100,
          4900000,
          "spin",
          FEED_END_ROOT,
          0,
          3,
          { { 1, 12, 0, NULL, 0 }, { 0, 30, 0, NULL, 0 }, { 2, 0, 0, NULL, 0 } } },
        { 100,
          4900000,
          "spin",
          FEED_END_ROOT,
          0,
          2,
          { { 1, 0, 0, NULL, 0 }, { 0, 31, 0, "/home/user/src/table.inc", 0 } } },
    };

    profile->samples = &recent[included];
    profile->sample_count = 1;
}

/* One more behind the script's. */
static void add_one_sample(struct profile *profile)
{
    static struct fake_sample more[FAKE_MAX];
    uint32_t count = profile->sample_count;

    assert_in_range(count, 0, FAKE_MAX - 1);
    memcpy(more, profile->samples, count * sizeof(*more));
    more[count] = (struct fake_sample){
        100, 4900000, "spin", FEED_END_ROOT, 0, 2, { { 1, 12, 0, NULL, 0 }, { 0, 30, 0, NULL, 0 } }
    };
    profile->samples = more;
    profile->sample_count = count + 1;
    profile->processes[0].samples++;
}

/* A named one, a busy one, and one that is too quiet to be an isolate. */
static void add_threads(struct profile *profile)
{
    static const struct profile_thread threads[] = { { 100, "spin", 50 },
                                                     { 110, "worker", 2 },
                                                     { 111, "spin", 3 } };

    memcpy(profile->threads, threads, sizeof(threads));
    profile->thread_count = 3;
    profile->processes[0].samples += 52;
}

enum { STATUS_3 = 3 << 8 };

static void end_first(struct profile *profile, bool exit_known, int wait_status)
{
    profile->processes[0].live = false;
    profile->processes[0].end_us = 3000000;
    profile->processes[0].exit_known = exit_known;
    profile->processes[0].wait_status = wait_status;
}

/* With the pid of process 103, which has left no sample. */
static void exec_last(struct profile *profile)
{
    struct process_info *last = &profile->processes[profile->process_count - 1];

    last->start_us += 1000;
    strcpy(last->name, "next");
    strcpy(last->exe, "/bin/next");
}

/* isoscope started 101, a wrapper: it has become "tool" by exec, with the same pid, and has a child
 * of the same name. */
static void add_wrapped(struct profile *profile)
{
    profile->processes[1].started = true;
    profile->processes[profile->process_count++] = (struct process_info){ .id = 10000101,
                                                                          .pid = 101,
                                                                          .ppid = 1,
                                                                          .start_us = 3000000,
                                                                          .name = "tool",
                                                                          .exe = "/bin/tool",
                                                                          .live = true,
                                                                          .started = true };
    profile->processes[profile->process_count++] = (struct process_info){ .id = 104,
                                                                          .pid = 104,
                                                                          .ppid = 101,
                                                                          .start_us = 3000000,
                                                                          .name = "tool",
                                                                          .exe = "/bin/tool",
                                                                          .live = true };
}

static void lose_nothing(struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++)
        memset(profile->processes[i].status.lost, 0, sizeof(profile->processes[i].status.lost));
}

static void act(struct talk *talk, const char *what)
{
    struct profile *profile = &talk->profile;

    if (!strcmp(what, "nothing_runs"))
        profile->process_count = 0;
    else if (!strcmp(what, "process_103_starts"))
        profile->processes[profile->process_count++] = (struct process_info){
            .id = 103, .pid = 103, .name = "new", .exe = "/bin/new", .live = true
        };
    else if (!strcmp(what, "process_103_becomes_another_program"))
        exec_last(profile);
    else if (!strcmp(what, "process_100_ends"))
        end_first(profile, false, 0);
    else if (!strcmp(what, "process_100_exits_with_3"))
        end_first(profile, true, STATUS_3);
    else if (!strcmp(what, "process_100_dies_of_a_segfault"))
        end_first(profile, true, SIGSEGV | WCOREFLAG);
    else if (!strcmp(what, "process_100_dies_of_a_real_time_signal"))
        end_first(profile, true, SIGRTMIN + 3);
    else if (!strcmp(what, "a_static_program_starts"))
        service_unsampled(talk->service, 107, "/bin/static", "it is static");
    else if (!strcmp(what, "a_static_program_is_sampled_after_all"))
        service_sampled_after_all(talk->service, 105, "/bin/static", "it is static");
    else if (!strcmp(what, "a_static_program_with_any_bytes_starts"))
        service_unsampled(talk->service, 108, "/bin/\xff", "it is static");
    else if (!strcmp(what, "names_are_read"))
        set_names(profile, true);
    else if (!strcmp(what, "names_are_there"))
        set_names(profile, false);
    else if (!strcmp(what, "a_ring_was_full"))
        profile->processes[0].status.lost[FEED_LOSS_RING_FULL] += 7;
    else if (!strcmp(what, "the_program_locks_itself_in"))
        profile->processes[0].status.lost[FEED_LOSS_SANDBOXED] = 1;
    else if (!strcmp(what, "the_first_ticks_come_too_early"))
        profile->processes[0].status.lost[FEED_LOSS_NO_TABLES] = 3;
    else if (!strcmp(what, "the_program_writes"))
        service_program_wrote(talk->service, SERVICE_STDOUT, "hi\xff\n", 4);
    else if (!strcmp(what, "the_program_complains"))
        service_program_wrote(talk->service, SERVICE_STDERR, "oh", 2);
    else if (!strcmp(what, "threads_are_sampled"))
        add_threads(profile);
    else if (!strcmp(what, "a_sample_was_just_taken"))
        add_recent_sample(profile, false);
    else if (!strcmp(what, "a_sample_of_included_code_was_just_taken"))
        add_recent_sample(profile, true);
    else if (!strcmp(what, "spin_is_sampled"))
        add_one_sample(profile);
    else if (!strcmp(what, "samples_are_evicted"))
        profile->processes[0].evicted = 1000;
    else if (!strcmp(what, "a_second_passes"))
        fake_monotonic_pass(1000000);
    else if (!strcmp(what, "ten_seconds_pass"))
        fake_monotonic_pass(10000000);
    else if (!strcmp(what, "what_was_started_becomes_another_by_exec"))
        add_wrapped(profile);
    else if (!strcmp(what, "process_104_is_gone"))
        profile->process_count--;
    else if (!strcmp(what, "nothing_was_lost"))
        lose_nothing(profile);
    else if (!strcmp(what, "worker_is_forgotten"))
        profile->processes[0].samples--;
    else if (!strcmp(what, "five_samples_come"))
        profile->processes[0].samples += 5;
    else if (!strcmp(what, "the_program_tells_events"))
        fake_events(profile);
    else if (!strcmp(what, "loops_are_watched"))
        fake_loops(profile);
    else if (!strcmp(what, "main_is_late"))
        fake_stall_begins(profile);
    else if (!strcmp(what, "main_is_still_late"))
        fake_stall_goes_on(profile);
    else if (!strcmp(what, "main_goes_on"))
        fake_stall_ends(profile);
    else if (!strcmp(what, "worker_was_late_twice_by_the_same"))
        fake_equal_stalls(profile);
    else if (!strcmp(what, "a_thread_uses_a_processor_for_too_long") ||
             !strcmp(what, "a_process_uses_a_processor_for_too_long"))
        profile->cpu_highs++;
    else if (!strcmp(what, "the_first_events_are_evicted"))
        profile->events_evicted = 4;
    else if (!strcmp(what, "the_file_is_damaged"))
        profile->damaged = true;
    else if (!strcmp(what, "the_profiler_is_off"))
        profile->settings.enabled = false;
    else if (!strcmp(what, "python_runs_what_spin_is"))
        fake_script(profile);
    else if (!strcmp(what, "samples_are_gone"))
        profile_clear(profile, 0);
    else
        fail_msg("unknown act %s", what);
    service_poll(talk->service);
}

static void expect(struct talk *talk, const json_t *pattern)
{
    json_t *message = talk_receive(talk);
    char *got = message ? json_dumps(message, JSON_INDENT(2)) : NULL;

    if (!message || !matches(pattern, message)) {
        char *owed = json_dumps(pattern, JSON_INDENT(2) | JSON_ENCODE_ANY);

        fail_msg("owed %s\ngot %s", owed, got ? got : "nothing");
    }
    free(got);
    json_decref(message);
}

enum { CLIENTS_MAX = 4 };

/* The client whose step it is; it comes when it is first named. */
static struct client **whose(struct talk *talk, struct client **clients, const json_t *step)
{
    const char *name = json_string_value(json_object_get(step, "client"));
    struct client **client = &clients[name ? name[0] - 'A' : 0];

    assert_in_range(client - clients, 0, CLIENTS_MAX - 1);
    if (!*client)
        assert_int_equal(client_new(client, talk->service), 0);
    return client;
}

static void run_step(struct talk *talk, struct client **clients, const json_t *step)
{
    struct client **client = whose(talk, clients, step);
    const json_t *request = json_object_get(step, "request");
    const json_t *responses = json_object_get(step, "responses");

    talk->client = *client;
    if (json_object_get(step, "act"))
        act(talk, json_string_value(json_object_get(step, "act")));
    if (json_is_string(request))
        talk_send(talk, json_string_value(request));
    else if (request)
        talk_send_json(talk, request);
    if (json_object_get(step, "response"))
        expect(talk, json_object_get(step, "response"));
    for (size_t i = 0; i < json_array_size(responses); i++)
        expect(talk, json_array_get(responses, i));
    assert_null(talk_receive(talk));
    assert_int_equal(talk_closed(talk), json_integer_value(json_object_get(step, "close")));
    if (json_is_true(json_object_get(step, "leaves"))) {
        client_free(*client);
        *client = NULL;
    }
}

/* What was said to nobody's step was owed to nobody. */
static void nothing_is_left(struct talk *talk, struct client **clients)
{
    for (int i = 0; i < CLIENTS_MAX; i++) {
        talk->client = clients[i];
        if (clients[i])
            assert_null(talk_receive(talk));
    }
}

static bool attached;

static bool attach_to(void *context, int32_t pid, enum service_via via, char *problem, size_t size)
{
    (void)context;
    attached = pid == 300 && via == SERVICE_VIA_AUTO;
    if (!attached)
        snprintf(problem, size, "process %d is not there", (int)pid);
    return attached;
}

static bool detach_from(void *context, int32_t pid)
{
    bool left = attached && pid == 300;

    (void)context;
    attached = false;
    return left;
}

static void tell_others(void *context, void (*tell)(void *to, int32_t pid, const char *name),
                        void *to)
{
    (void)context;
    tell(to, 100, "sampled already");
    tell(to, 300, "idle");
}

static struct service_attacher fake_attacher(void)
{
    return (struct service_attacher){ attach_to, detach_from, tell_others, NULL };
}

static struct process_settings of_postgres;

static void process_given(void *context, int32_t pid, const struct process_settings *settings)
{
    (void)context;
    (void)pid;
    (void)settings;
}

static bool program_given(void *context, const char *program,
                          const struct process_settings *settings, char *problem, size_t size)
{
    (void)context;
    of_postgres = *settings;
    if (!strcmp(program, "postgres"))
        return true;
    snprintf(problem, size, "%s is not postgres", program);
    return false;
}

static void tell_programs(void *context,
                          void (*tell)(void *to, const char *program,
                                       const struct process_settings *settings),
                          void *to)
{
    (void)context;
    tell(to, "postgres", &of_postgres);
}

static void tell_sessions(void *context, void (*tell)(void *to, const char *path), void *to)
{
    (void)context;
    tell(to, "/var/lib/isoscope/0/sessions/20260131-000000Z.isoscope");
}

static void wire_case(void **state)
{
    json_error_t error;
    json_t *file = json_load_file(*state, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    json_t *steps = json_object_get(file, "steps");
    struct client *clients[CLIENTS_MAX] = { 0 };
    struct service_options options = { .allow_dds =
                                           json_is_true(json_object_get(file, "allowDds")) };
    struct talk talk;

    if (!file)
        fail_msg("%s:%d: %s", (const char *)*state, error.line, error.text);
    if (json_is_true(json_object_get(file, "attaches")))
        options.attacher = fake_attacher();
    if (json_is_true(json_object_get(file, "keeps"))) {
        options.keeper =
            (struct service_keeper){ process_given, program_given, tell_programs, NULL };
        options.earlier = (struct service_earlier){ tell_sessions, NULL };
    }
    talk_begin_as(&talk, &options, json_is_true(json_object_get(file, "saved")));
    clients[0] = talk.client;
    for (size_t i = 0; i < json_array_size(steps); i++)
        run_step(&talk, clients, json_array_get(steps, i));
    if (!steps)
        run_step(&talk, clients, file);
    nothing_is_left(&talk, clients);
    talk_end(&talk);
    json_decref(file);
}

int main(void)
{
    struct CMUnitTest *tests;
    glob_t files;
    int failed;

    assert_int_equal(glob(WIRE_CASES "/*/*.json", 0, NULL, &files), 0);
    tests = calloc(files.gl_pathc, sizeof(*tests));
    for (size_t i = 0; i < files.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){ .name = files.gl_pathv[i] + strlen(WIRE_CASES) + 1,
                                        .test_func = wire_case,
                                        .initial_state = files.gl_pathv[i] };
    failed = _cmocka_run_group_tests("wire cases", tests, files.gl_pathc, NULL, NULL);
    free(tests);
    globfree(&files);
    return failed;
}
