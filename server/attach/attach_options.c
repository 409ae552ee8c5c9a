#include "attach_options.h"

#include "../console/option_table.h"
#include "../service/serve_words.h"
#include "../service/stall_options.h"
#include "processes_named.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/remote/attached.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: isoscope attach [OPTIONS] PID...\n"
    "       isoscope attach [OPTIONS] --name PATTERN\n"
    "       isoscope attach [OPTIONS] --all\n"
    "\n"
    "Samples programs that run already, and serves their profile over the Dart VM service "
    "protocol, "
    "until\n"
    "they have ended, or Ctrl-C. Nothing is put into them, but by --via inject. --alloc, --lock "
    "and "
    "what is\n"
    "told of loops need that.\n"
    "\n";

static const char *const vias[] = { "auto", "perf", "suspend", "inject", NULL };
_Static_assert(ATTACHED_AUTO == 0 && ATTACHED_PERF == 1 && ATTACHED_SUSPEND == 2 &&
                   ATTACHED_INJECT == 3,
               "the words' order");

#define AT(field) .offset = offsetof(struct attach_options, field)

static int take_pattern(void *field, const char *text, char *error, size_t size)
{
    if (!text[0]) {
        snprintf(error, size, "'' is no name");
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = text;
    return 0;
}

static const struct option_row attach_rows[] = {
    { "name", .kind = OPTION_TAKEN, AT(name), .take = take_pattern, .group = "Programs",
      .value = "PATTERN",
      .help = "attach to every program of this name; * stands for any characters" },
    { "all", .kind = OPTION_ON, AT(all),
      .help =
          "every process of the machine, as it runs, by perf; for root. 1,024 at a time at most" },
    { "no-children", .kind = OPTION_ON, AT(alone),
      .help = "not to the processes that they start from now on" },
    { "via", .kind = OPTION_CHOICE, AT(via), .words = vias,
      .help =
          "perf: the kernel copies registers and stack at each tick. suspend: a thread that "
          "runs is stopped for as long as that takes here; without the children. auto "
          "(default): suspend for Python, node, Java, Ruby, PHP, Perl and Lua, whose functions "
          "it shows; perf for the others, or where the kernel refuses it suspend. inject, never "
          "by itself: the sampler is loaded into the program, at the end of a harmless system "
          "call of its, and stays there" },
    { "off-cpu", .kind = OPTION_ON, AT(off_cpu),
      .help = "where threads give their processor away, for how long, and as root who wakes them: "
              "--kind wait of other commands. By perf alone; asks for root, or for "
              "kernel.perf_event_paranoid of 1 or less" },
    { "kernel", .kind = OPTION_ON, AT(kernel),
      .help =
          "the kernel's frames above the program's, in libraries [kernel] and [MODULE]. By perf "
          "alone; asks for root, or for kernel.perf_event_paranoid of 1 or less; names, also for "
          "kernel.kptr_restrict of 0" },
    { "eject", .kind = OPTION_ON, AT(eject),
      .help = "with --via inject: stop the sampler in the program when done" },
    { "for", .kind = OPTION_UINT32, AT(seconds), .least = 1, .most = 604800, .value = "SECONDS",
      .means = "a number of seconds", .help = "leave them after SECONDS" },
};
static const struct option_row more_rows[] = {
    { "no-runtimes", .kind = OPTION_ON, AT(no_runtimes),
      .help = "show an interpreter's own functions instead of those that it runs; auto is perf for "
              "it then, too" },
    { "history", .kind = OPTION_MIB, AT(serve.host.profile.store_bytes), .least = 1, .most = 65536,
      .initial = 64, .value = "MIB", .means = "a number of MiB",
      .help = "memory for the samples, {range} MiB (default: {default}). The oldest are dropped "
              "first" },
    { "stats", .kind = OPTION_ON, AT(serve.stats),
      .help = "print counters and cost of the sampling at the end" },
};
static const struct option_row end_rows[] = {
    { "keep", .kind = OPTION_ON, AT(serve.keep),
      .help = "serve on when the programs have ended, until Ctrl-C or SIGTERM" },
    { "quiet", .kind = OPTION_ON, AT(serve.quiet),
      .help = "print neither the listening line nor what was attached to" },
};
static const struct option_row help_rows[] = {
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
#define ROWS(list)                                                                                 \
    {                                                                                              \
        list, sizeof(list) / sizeof(*(list))                                                       \
    }
static const struct option_rows attach_words = ROWS(attach_rows), more_words = ROWS(more_rows),
                                end_words = ROWS(end_rows), help_words = ROWS(help_rows);

#define SERVE offsetof(struct attach_options, serve)
#define PUSH  offsetof(struct attach_options, serve.push)
static const struct option_part parts[] = {
    { &attach_words, 0 },        { &clock_words, SERVE },  { &own_sample_words, SERVE },
    { &more_words, 0 },          { &naming_words, SERVE }, { &stall_words, SERVE },
    { &recording_words, SERVE }, { &listen_words, SERVE }, { &end_words, 0 },
    { &client_words, SERVE },    { &push_words, PUSH },    { &push_queue_words, PUSH },
    { &help_words, 0 },
};
static const struct option_table table = { "isoscope attach", parts, sizeof(parts) / sizeof(*parts),
                                           true };

void attach_options_help(FILE *out)
{
    fputs(usage, out);
    option_table_help(&table, out);
}

static int take_pid(struct attach_options *options, const char *word, char *error, size_t size)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(word, &end, 10);
    if (word[0] < '1' || word[0] > '9' || *end || errno || number > INT_MAX) {
        snprintf(error, size, "'%s' is not the number of a process", word);
        return -ISOSCOPE_INVALID;
    }
    if (options->pid_count == ATTACH_PIDS_MAX) {
        snprintf(error, size, "more than %d processes", ATTACH_PIDS_MAX);
        return -ISOSCOPE_INVALID;
    }
    options->pids[options->pid_count++] = (pid_t)number;
    return 0;
}

static int take_named(struct attach_options *options, char *error, size_t size)
{
    options->pid_count = processes_named(options->name, options->pids, ATTACH_PIDS_MAX);
    if (options->pid_count)
        return 0;
    snprintf(error, size, "no process that you may sample is called '%s'", options->name);
    return -ISOSCOPE_INVALID;
}

/* An option of isoscope run's, which is no row here. A program that is started has one event of page faults, which its threads
 * inherit. */
static int refuse_faults(int argc, char **argv, char *error, size_t size)
{
    static const char word[] = "--faults";
    const size_t length = sizeof(word) - 1;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strncmp(argv[i], word, length) && (!argv[i][length] || argv[i][length] == '=')) {
            snprintf(error, size,
                     "--faults: page faults are sampled by an event that a program's threads "
                     "inherit from its first one, and threads that run already have none; start "
                     "the program by `isoscope run --faults`");
            return -ISOSCOPE_INVALID;
        }
    return 0;
}

/* What nothing but the sampler in the program can do. */
static int needs_inject(const struct attach_options *options, char *error, size_t error_size)
{
    const struct feed_settings *settings = &options->serve.host.profile.settings;
    const char *word = options->eject                       ? "--eject"
                       : settings->allocation_bytes         ? "--alloc"
                       : settings->lock_us                  ? "--lock"
                       : options->serve.host.stalls.fail_ms ? "--fail-on-stall"
                       : options->serve.host.stalls.command ? "--on-stall"
                       : stall_options_are_given(&options->serve.host.stalls)
                           ? "what is told of loops (--watch-loops, --stall-limit)"
                           : NULL;

    if (!word || options->via == ATTACHED_INJECT)
        return 0;
    snprintf(error, error_size, "%s goes with --via inject only", word);
    return -ISOSCOPE_INVALID;
}

/* word: that stands where pids do; NULL: none. */
static int take_all(struct attach_options *options, const char *word, char *error, size_t size)
{
    const char *other = word                               ? word
                        : options->name                    ? "--name"
                        : options->alone                   ? "--no-children"
                        : options->off_cpu                 ? "--off-cpu"
                        : options->via == ATTACHED_SUSPEND ? "--via suspend"
                        : options->via == ATTACHED_INJECT  ? "--via inject"
                                                           : NULL;

    if (other) {
        snprintf(error, size, "--all and '%s' exclude each other", other);
        return -ISOSCOPE_INVALID;
    }
    options->pid_count = 1; /* its pid is 0 */
    return 0;
}

int attach_options_parse(struct attach_options *out, int argc, char **argv, char *error,
                         size_t error_size)
{
    int first;

    *out = (struct attach_options){ .serve.host.profile.settings.enabled = true };
    if (refuse_faults(argc, argv, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    first = option_table_parse(&table, out, argc, argv, error, error_size);
    if (first < 0 || out->help)
        return first < 0 ? first : 0;
    if (out->all) {
        if (take_all(out, first < argc ? argv[first] : NULL, error, error_size) < 0)
            return -ISOSCOPE_INVALID;
        first = argc;
    }
    if (out->name && first < argc) {
        snprintf(error, error_size, "--name and '%s' exclude each other", argv[first]);
        return -ISOSCOPE_INVALID;
    }
    for (int i = first; i < argc; i++)
        if (take_pid(out, argv[i], error, error_size) < 0)
            return -ISOSCOPE_INVALID;
    if (out->name && take_named(out, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (!out->pid_count) {
        snprintf(error, error_size, "no process given: isoscope attach PID");
        return -ISOSCOPE_INVALID;
    }
    if (needs_inject(out, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (stall_options_agree(&out->serve.host.stalls, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if ((out->off_cpu || out->kernel) && out->via != ATTACHED_AUTO && out->via != ATTACHED_PERF) {
        snprintf(error, error_size, "--%s goes with --via perf only",
                 out->off_cpu ? "off-cpu" : "kernel");
        return -ISOSCOPE_INVALID;
    }
    if (out->off_cpu)
        out->serve.host.profile.settings.lock_us = FEED_LOCK_US_MIN;
    if (push_options_agree(&out->serve.push, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    return serve_words_agree(&out->serve, error, error_size);
}
