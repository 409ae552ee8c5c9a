#include "stall_options.h"

#include "serve.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT_MS_MIN = 4, /* loops are looked at so often */
    LIMIT_MS_MAX = 3600 * 1000,
    JANK_MS = 50, /* the limits that hold where none is given */
    STALL_MS = 250,
};

#define FEED_WORD(name, word) word,
static const char *const watches[] = { FEED_WATCHES(FEED_WORD) };
#undef FEED_WORD

static bool is_list_of_names(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            return false;
    return true;
}

static int take_watch(void *field, const char *text, char *error, size_t error_size)
{
    struct stall_options *options = field;
    struct stall_settings *settings = &options->settings;

    settings->names[0] = '\0';
    for (int i = 0; i < FEED_WATCH_COUNT; i++)
        if (!strcmp(text, watches[i])) {
            settings->watch = (enum feed_watch)i;
            return 0;
        }
    settings->watch = FEED_WATCH_AUTO;
    if (strlen(text) >= sizeof(settings->names)) {
        snprintf(error, error_size, "more than %zu bytes of names", sizeof(settings->names) - 1);
        return -ISOSCOPE_INVALID;
    }
    if (!text[0] || !is_list_of_names(text)) {
        snprintf(error, error_size,
                 "'%s' is neither auto, all nor none, nor names of loops or threads with commas "
                 "between them",
                 text);
        return -ISOSCOPE_INVALID;
    }
    strcpy(settings->names, text);
    return 0;
}

/* "250", "250ms", "2s", "0.5s", "1m". False: it is no time. */
static bool read_ms(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = { { "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 } };
    char *end;

    if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X')
        return false;
    *out = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(end, units[i].unit)) {
            *out *= units[i].ms;
            return true;
        }
    return false;
}

static int take_ms(uint32_t *out, const char *text, char *error, size_t error_size)
{
    double ms;

    if (!read_ms(text, &ms) || !(ms <= LIMIT_MS_MAX)) {
        snprintf(error, error_size,
                 "'%s' is not a time from %dms to 1h, such as 250ms, 2s or 1m; a number alone is "
                 "milliseconds",
                 text, LIMIT_MS_MIN);
        return -ISOSCOPE_INVALID;
    }
    if (ms < LIMIT_MS_MIN) {
        snprintf(error, error_size,
                 "'%s' is too short: loops are looked at each %d ms, and nothing shorter can be "
                 "seen",
                 text, LIMIT_MS_MIN);
        return -ISOSCOPE_INVALID;
    }
    *out = (uint32_t)(ms + 0.5);
    return 0;
}

static int take_limit(void *field, const char *text, char *error, size_t error_size)
{
    return take_ms(&((uint32_t *)field)[STALL_LEVEL_STALL], text, error, error_size);
}

static int take_fail(void *field, const char *text, char *error, size_t error_size)
{
    return take_ms(field, text, error, error_size);
}

static int take_command(void *field, const char *text, char *error, size_t error_size)
{
    if (!text[strspn(text, " \t\n")]) {
        snprintf(error, error_size, "'%s' is no command", text);
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = text;
    return 0;
}

#define AT(field) .offset = offsetof(struct serve_options, host.stalls.field)

static const struct option_row rows[] = {
    { "watch-loops", .kind = OPTION_TAKEN, .offset = offsetof(struct serve_options, host.stalls),
      .take = take_watch, .group = "Stalls", .value = "auto|all|none|NAMES",
      .help = "auto: watch loops that the program registers, and threads that wait for descriptors "
              "again and again (default). all: every thread, from its first such wait on. none. "
              "NAMES: of those of auto only these loops or threads, with commas and '*'" },
    { "stall-limit", .kind = OPTION_TAKEN, AT(settings.limits_ms), .take = take_limit,
      .value = "TIME",
      .help =
          "a dispatch of a loop that takes this long is a stall (default: 250ms; 4ms at least). A "
          "loop's own limit wins" },
    { "fail-on-stall", .kind = OPTION_TAKEN, AT(fail_ms), .take = take_fail, .value = "TIME",
      .help = "exit status 3 when a loop stalled for this long or longer and the program itself "
              "ended with 0; the stalls are listed at the end" },
    { "on-stall", .kind = OPTION_TAKEN, AT(command), .take = take_command, .value = "COMMAND",
      .help = "run COMMAND by sh -c when a stall is told, and again, with ISOSCOPE_STALL_END=1, at "
              "its end. $ISOSCOPE_STALL_LOOP, _THREAD, _PID, _MS, _CAUSE, _CULPRIT and more tell "
              "of it" },
};
enum { LIMIT_ROWS = 2 };
const struct option_rows stall_limit_words = { rows, LIMIT_ROWS };
const struct option_rows stall_words = { rows, sizeof(rows) / sizeof(*rows) };

/* A stall that shall make the run fail has to be one. */
static bool limit_agrees(struct stall_options *options, char *error, size_t error_size)
{
    uint32_t *limit = &options->settings.limits_ms[STALL_LEVEL_STALL];

    if (options->fail_ms && *limit > options->fail_ms) {
        snprintf(error, error_size,
                 "--fail-on-stall %ums is below --stall-limit %ums: shorter stalls are not told",
                 options->fail_ms, *limit);
        return false;
    }
    if (options->fail_ms && !*limit && options->fail_ms < STALL_MS)
        *limit = options->fail_ms;
    /* Limits grow in their order, and the first one would lift it. */
    if (*limit && *limit < JANK_MS)
        options->settings.limits_ms[STALL_LEVEL_JANK] = *limit;
    return true;
}

bool stall_options_are_given(const struct stall_options *options)
{
    const struct stall_settings *settings = &options->settings;

    return settings->watch != FEED_WATCH_AUTO || settings->names[0] ||
           settings->limits_ms[STALL_LEVEL_STALL];
}

int stall_options_agree(struct stall_options *options, char *error, size_t error_size)
{
    options->watch = watches[options->settings.watch];
    if (options->settings.watch == FEED_WATCH_NONE && (options->fail_ms || options->command)) {
        snprintf(error, error_size,
                 "%s needs loops that are watched: --watch-loops none excludes it",
                 options->fail_ms ? "--fail-on-stall" : "--on-stall");
        return -ISOSCOPE_INVALID;
    }
    return limit_agrees(options, error, error_size) ? 0 : -ISOSCOPE_INVALID;
}
