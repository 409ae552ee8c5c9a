/*
 * main.c - the command `isoscope`: a word, and what stands behind it.
 *
 * The other commands are the Python client's.
 */
#include "../attach/attach.h"
#include "../console/nearest.h"
#include "../host/room_process.h"
#include "../host/room_serve.h"
#include "../host/serve_command.h"
#include "../console/log_line.h"
#include "../console/status.h"
#include "../run/inherited.h"
#include "../run/run.h"
#include "dump.h"
#include "lsp.h"
#include "mcp.h"
#include "page_file.h"
#include "python.h"
#include "symbolize.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *word;
    int (*act)(int argc, char **argv, const struct inherited *inherited); /* argv[0]: the word */
    const char *help;                                                     /* NULL: not listed */
};

static int help_command(int argc, char **argv, const struct inherited *inherited);
static int version_command(int argc, char **argv, const struct inherited *inherited);

static const struct command commands[] = {
    { "run", run_command, "run a program with the sampler and serve its profile" },
    { "record", run_command, "run a program with the sampler and write its profile to a file" },
    { "attach", attach_command, "sample a program that runs already and serve its profile" },
    { "serve", serve_command, "serve saved profiles, or all programs of a host" },
    { "symbolize", symbolize_command, "give a saved profile its names, or resolve addresses" },
    { "lsp", lsp_command, "show a profile in editors, as a language server" },
    { "mcp", mcp_command, "let assistants read profiles, as a Model Context Protocol server" },
    { "help", help_command, "show this list, or the options of a command: help COMMAND" },
    { "--help", help_command, NULL },
    { "-h", help_command, NULL },
    { "--version", version_command, NULL },
    { ROOM_COMMAND, room_command, NULL },
    { "page-file", page_file_command, NULL },
};

/* Written in Python; named here so that one list shows them all. */
static const struct command python_commands[] = {
    { "tree", NULL, "print the call tree" },
    { "bottomup", NULL, "print functions by self time, with their callers" },
    { "table", NULL, "print a table of functions, callers and callees" },
    { "hot", NULL, "print the functions over a threshold" },
    { "explain", NULL, "say what is wrong with a program, and compare it with budgets" },
    { "disassemble", NULL, "print a function's instructions, with the time spent in each" },
    { "timeline", NULL, "print the slices that a program told, by name" },
    { "stalls", NULL, "print when loops were late, why, and which function did it" },
    { "locks", NULL, "print which locks threads waited for, and who had them" },
    { "diff", NULL, "print what changed between two profiles" },
    { "top", NULL, "show the hottest functions, live" },
    { "export", NULL, "write a profile as a file for other tools" },
    { "flame", NULL, "draw a flame graph" },
    { "view", NULL, "open a profile in the browser page" },
    { "save", NULL, "save a service's profile as a session file" },
    { "dump", NULL, "print a stack of each thread: of a profile, a process or a core file" },
    { "stats", NULL, "print counters and cost of the sampling itself" },
    { "watch", NULL, "print events as they come" },
    { "transcript", NULL, "record what clients and a service say, as a file" },
    { "replay", NULL, "replay a transcript to a service, or in a service's place" },
    { "overhead", NULL, "measure the overhead of sampling on a command" },
    { "ps", NULL, "list the programs that a host service samples" },
    { "ctl", NULL, "switch the sampling of one process on or off" },
    { "open", NULL, "open your page of a host service" },
    { "completion", NULL, "print a shell's completions for isoscope" },
    { "docs", NULL, "open the documentation in a browser" },
};

static const char usage[] = "Usage: isoscope COMMAND [OPTIONS]\n\n"
                            "A sampling profiler for native programs. Profiles are served over the "
                            "Dart VM service protocol.\n\n";

static const char examples[] =
    "\nExamples:\n"
    "  isoscope tree -- gzip -k big.txt          run it and show where its time went\n"
    "  isoscope run --write-service-info here.json -- ./server --port 80\n"
    "                                            serve its profile while it runs; then\n"
    "  isoscope top here.json                    show what it does now\n"
    "  isoscope tree --thread worker-1 here.json show one thread's call tree\n"
    "  isoscope record -- ./server --port 80     write its profile to server.isoscope; then\n"
    "  isoscope serve server.isoscope            serve that again\n"
    "\n`isoscope COMMAND --help` lists a command's options; `man isoscope` describes everything.\n";

enum {
    COMMANDS = sizeof(commands) / sizeof(commands[0]),
    PYTHON_COMMANDS = sizeof(python_commands) / sizeof(python_commands[0]),
};

static const struct command *find_command(const struct command *first, size_t count,
                                          const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, first[i].word) == 0)
            return &first[i];
    return NULL;
}

static int refuse_word(const char *word)
{
    struct nearest nearest = { .word = word };

    for (size_t i = 0; i < COMMANDS; i++)
        nearest_try(&nearest, commands[i].word);
    for (size_t i = 0; i < PYTHON_COMMANDS; i++)
        nearest_try(&nearest, python_commands[i].word);
    if (nearest.found)
        log_line("unknown command '%s'; did you mean `isoscope %s`?", word, nearest.found);
    else
        log_line("unknown command '%s'; `isoscope help` lists the commands", word);
    return STATUS_USAGE;
}

static void list(const struct command *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (first[i].help)
            printf("  %-10s %s\n", first[i].word, first[i].help);
}

static int help_command(int argc, char **argv, const struct inherited *inherited)
{
    char *help_of[] = { argc > 1 ? argv[1] : argv[0], (char *)"--help", NULL };
    const struct command *command = find_command(commands, COMMANDS, help_of[0]);

    if (!command)
        return find_command(python_commands, PYTHON_COMMANDS, help_of[0]) ? python_command(help_of)
                                                                          : refuse_word(help_of[0]);
    if (command->act != help_command)
        return command->act(2, help_of, inherited);
    fputs(usage, stdout);
    list(commands, COMMANDS);
    list(python_commands, PYTHON_COMMANDS);
    fputs(examples, stdout);
    return STATUS_OK;
}

static int version_command(int argc, char **argv, const struct inherited *inherited)
{
    (void)argc, (void)argv, (void)inherited;
    printf("isoscope %s\n", ISOSCOPE_VERSION);
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    struct inherited inherited;

    if (argc < 2) {
        log_line("no command given; `isoscope help` lists the commands");
        return STATUS_USAGE;
    }

    const struct command *command = find_command(commands, COMMANDS, argv[1]);
    if (!strcmp(argv[1], "dump") && dump_is_of_process(argc - 1, argv + 1))
        return dump_command(argc - 1, argv + 1, NULL);
    if (!command)
        return find_command(python_commands, PYTHON_COMMANDS, argv[1]) ? python_command(argv + 1)
                                                                       : refuse_word(argv[1]);
    inherited_save(&inherited);
    return command->act(argc - 1, argv + 1, &inherited);
}
