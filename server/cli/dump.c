#include "dump.h"

#include "../console/log_line.h"
#include "../console/option_table.h"
#include "../console/status.h"
#include "dump_shown.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: isoscope dump [OPTIONS] PID\n"
                            "       isoscope dump [OPTIONS] CORE\n"
                            "\n"
                            "Prints one stack of every thread, leaf first, of a running process or "
                            "of a core file: what each\n"
                            "waits for, and which thread holds the mutex it waits for. A thread "
                            "that runs is stopped for as\n"
                            "long as its stack takes to copy; a sleeping one seldom. Nothing has "
                            "to be prepared in the program.\n"
                            "\n"
                            "For the newest samples of a program that isoscope profiles, give its "
                            "address, service info file or\n"
                            "saved profile instead: isoscope dump SOURCE.\n"
                            "\n";

struct dump_options {
    struct dump_shown shown;
    bool help;
};

#define AT(field) .offset = offsetof(struct dump_options, field)

static int take_pattern(void *field, const char *text, char *error, size_t size)
{
    (void)error, (void)size;
    *(const char **)field = text;
    return 0;
}

static const struct option_row rows[] = {
    { "json", .kind = OPTION_ON, AT(shown.json), .group = "Options", .help = "print JSON" },
    { "thread", .kind = OPTION_TAKEN, AT(shown.threads), .take = take_pattern, .value = "NAME",
      .help = "only threads of this name or tid; * stands for any characters" },
    { "no-lines", .kind = OPTION_ON, AT(shown.no_lines),
      .help = "no source lines and no inlined functions: faster" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
static const struct option_rows words = { rows, sizeof(rows) / sizeof(*rows) };
static const struct option_part parts[] = { { &words, 0 } };
static const struct option_table table = { "isoscope dump", parts, 1, true };

/* 0: it is none. */
static pid_t pid_of(const char *word)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && !*end && !errno && number <= INT_MAX ? (pid_t)number
                                                                                    : 0;
}

static bool is_elf(const char *path)
{
    char head[SELFMAG];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool elf =
        fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG);

    if (fd >= 0)
        close(fd);
    return elf;
}

/* What stands behind it is not its value. */
static bool is_flag(const char *word)
{
    static const char *const flags[] = { "--json", "--no-lines", "--help", "-h" };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (!strcmp(word, flags[i]))
            return true;
    return word[0] != '-';
}

/* `--age 10` and `-- COMMAND` are of the other dump. */
bool dump_is_of_process(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (argv[i][0] != '-' && (i == 1 || is_flag(argv[i - 1])) &&
            (pid_of(argv[i]) || is_elf(argv[i])))
            return true;
    return false;
}

static int refuse(const struct refusal *why)
{
    log_line("dump: %s", why->text);
    return STATUS_NOTHING;
}

static int dump(const char *source, const struct dump_shown *shown)
{
    pid_t pid = pid_of(source);
    struct refusal why = { "" };
    struct thread_stacks *stacks;
    int status;

    if (pid ? !thread_stacks_of_process(&stacks, pid, &why)
            : !thread_stacks_of_core(&stacks, source, &why))
        return refuse(&why);
    status = dump_show(stacks, shown);
    thread_stacks_free(stacks);
    return status;
}

int dump_command(int argc, char **argv, const struct inherited *inherited)
{
    struct dump_options options = { 0 };
    int status, first = option_table_begin(&table, usage, &options, argc, argv, &status);

    (void)inherited;
    if (first < 0)
        return status;
    if (argc - first != 1) {
        log_line("dump takes one process or core file, but got '%s' too", argv[first + 1]);
        return STATUS_USAGE;
    }
    return dump(argv[first], &options.shown);
}
