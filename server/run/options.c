#include "options.h"

#include "../console/option_table.h"
#include "../push/push_options.h"
#include "../service/serve_words.h"
#include "../service/stall_options.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <string.h>

static const char run_usage[] =
    "Usage: isoscope run [OPTIONS] [--] PROGRAM [ARGS...]\n"
    "\n"
    "Runs PROGRAM with the sampler preloaded and serves its profile over the Dart VM service\n"
    "protocol. The exit status is the program's.\n"
    "\n";

static const char record_usage[] =
    "Usage: isoscope record [OPTIONS] [--] PROGRAM [ARGS...]\n"
    "\n"
    "Runs PROGRAM with the sampler preloaded and writes its profile to a file, PROGRAM.isoscope\n"
    "in the current folder or -o FILE. Nothing listens. The file is for `isoscope serve` and for\n"
    "every command that takes a SOURCE. The exit status is the program's.\n"
    "\n";

#define FEED_WORD(name, word) word,
static const char *const timers[] = { FEED_TIMER_WISHES(FEED_WORD) NULL };
#undef FEED_WORD

static const char *const runtime_options[] = { "off", "auto", NULL };

#define AT(field)      .offset = offsetof(struct run_options, field)
#define SETTING(field) AT(serve.host.profile.settings.field)

static const struct option_row sampling[] = {
    { "no-runtimes", .kind = OPTION_ON, AT(no_runtimes),
      .help = "show the interpreter's own functions instead of those that it runs (Python's, "
              "JavaScript's, Java's, Ruby's, PHP's, Perl's, Lua's)" },
    { "runtime-options", .kind = OPTION_CHOICE, AT(runtime_options), .words = runtime_options,
      .help = "auto: give runtimes that name their code by an option only that option, by the "
              "program's environment: ERL_AFLAGS (Erlang, OTP 24 or later), DOTNET_PerfMapEnabled. "
              "What is set there already wins. off (default): leave the environment as it is" },
    { "gil", .kind = OPTION_ON, AT(gil),
      .help = "tell which thread has Python's interpreter lock and which wait for it: the states "
              "GilHeld and GilWait" },
    { "tasks", .kind = OPTION_ON, AT(tasks),
      .help = "tag samples with the name of the asyncio task that runs, where the program set no "
              "tag itself" },
    { "faults", .kind = OPTION_MAYBE, SETTING(faults), .least = 1, .most = FEED_FAULTS_MAX,
      .initial = FEED_FAULTS_DEFAULT, .value = "N", .means = "a number of page faults",
      .help = "sample page faults, memory that is touched for the first time: one in N, {range} "
              "(default: {default}). Where they happen is --kind fault of other commands" },
    { "timer", .kind = OPTION_WORD, AT(timer), .words = timers,
      .help = "auto: perf events in user mode, CPU-time timers for the rest (default). cpu: "
              "CPU-time timers only, at most 250 Hz on most kernels" },
    { "history", .kind = OPTION_MIB, AT(serve.host.profile.store_bytes), .least = 1, .most = 65536,
      .initial = 64, .value = "MIB", .means = "a number of MiB",
      .help =
          "memory for the samples of all processes, {range} MiB (default: {default}). The "
          "oldest samples are dropped first. --stats prints how many minutes fit. Events of the "
          "timeline may take as much again" },
    { "stats", .kind = OPTION_ON, AT(serve.stats),
      .help = "print counters and cost of the sampling when the program has ended" },

};

#define KEPT                                                                                       \
    .kind = OPTION_UINT32, AT(serve.recording.keep_files), .most = 1000000, .value = "N",          \
    .means = "a number of files",                                                                  \
    .help = "with --rotate, keep the latest N files and remove older ones (default: keep all)"

static const struct option_row running[] = {
    { "keep-files", KEPT },
};

/* What wants a client. */
static const struct option_row serving[] = {
    { "paused", .kind = OPTION_OFF, SETTING(enabled),
      .help = "start with the profiler off; a client turns it on" },
    { "keep", .kind = OPTION_ON, AT(serve.keep),
      .help = "keep serving after the program has ended, until Ctrl-C or SIGTERM" },
    { "quiet", .kind = OPTION_ON, AT(serve.quiet),
      .help = "print neither the listening line nor what was recorded nor, with --keep, the "
              "program's end" },
    { "capture-output", .kind = OPTION_ON, AT(capture_output),
      .help = "let clients read the program's standard output and error. Both are still written as "
              "before" },
};

static const struct option_row recording[] = {
    { "keep", KEPT },
    { "quiet", .kind = OPTION_ON, AT(serve.quiet), .help = "do not print what was recorded" },
};

static const struct option_row helping[] = {
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};

#define ROWS(list)                                                                                 \
    {                                                                                              \
        list, sizeof(list) / sizeof(*(list))                                                       \
    }
static const struct option_rows sampling_words = ROWS(sampling), running_words = ROWS(running),
                                serving_words = ROWS(serving), record_words = ROWS(recording),
                                help_words = ROWS(helping);

#define SERVE offsetof(struct run_options, serve)
#define PUSH  offsetof(struct run_options, serve.push)

static const struct option_part run_parts[] = {
    { &clock_words, SERVE },  { &own_sample_words, SERVE }, { &sampling_words, 0 },
    { &naming_words, SERVE }, { &stall_words, SERVE },      { &recording_words, SERVE },
    { &running_words, 0 },    { &listen_words, SERVE },     { &serving_words, 0 },
    { &client_words, SERVE }, { &push_words, PUSH },        { &push_queue_words, PUSH },
    { &help_words, 0 },
};

static const struct option_part record_parts[] = {
    { &recording_words, SERVE },  { &record_words, 0 },   { &clock_words, SERVE },
    { &own_sample_words, SERVE }, { &sampling_words, 0 }, { &naming_words, SERVE },
    { &stall_words, SERVE },      { &help_words, 0 },
};

static const struct option_table tables[] = {
    { "isoscope run", run_parts, sizeof(run_parts) / sizeof(*run_parts), false },
    { "isoscope record", record_parts, sizeof(record_parts) / sizeof(*record_parts), false },
};

static bool is_record(const char *word)
{
    return !strcmp(word, "record");
}

void options_help(const char *word, FILE *out)
{
    fputs(is_record(word) ? record_usage : run_usage, out);
    option_table_help(&tables[is_record(word)], out);
}

/* Of a program whose name is a path, the last part of it. */
static int name_recording(struct run_options *options, char *error, size_t error_size)
{
    const char *slash = strrchr(options->program[0], '/');
    const char *name = slash ? slash + 1 : options->program[0];
    int length = snprintf(options->output, sizeof(options->output), "%s.isoscope", name);

    options->serve.recording.path = options->output;
    if (*name && (size_t)length < sizeof(options->output))
        return 0;
    snprintf(error, error_size, "%s has no name for a file: give one with -o FILE", name);
    return -ISOSCOPE_INVALID;
}

static uint32_t wants_of(const struct run_options *options)
{
    return (options->no_runtimes ? 0 : FEED_WANT_RUNTIMES) | (options->gil ? FEED_WANT_GIL : 0) |
           (options->tasks ? FEED_WANT_TASKS : 0);
}

int options_parse(struct run_options *out, int argc, char **argv, char *error, size_t error_size)
{
    bool record = is_record(argv[0]);

    *out = (struct run_options){ .serve.host.profile.settings.enabled = true };
    int first = option_table_parse(&tables[record], out, argc, argv, error, error_size);

    if (first < 0)
        return first;
    if (out->help)
        return 0;
    if (first >= argc || !argv[first][0]) {
        snprintf(error, error_size, "no program given: isoscope %s [OPTIONS] -- PROGRAM ARGS",
                 argv[0]);
        return -ISOSCOPE_INVALID;
    }
    out->serve.host.profile.settings.wants = wants_of(out);
    out->program = argv + first;
    out->serve.host.service.command = (const char *const *)out->program;
    out->serve.host.deaf = record;
    if (record && !out->serve.recording.path && name_recording(out, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (stall_options_agree(&out->serve.host.stalls, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (push_options_agree(&out->serve.push, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    return serve_words_agree(&out->serve, error, error_size);
}
