/*
 * main.c - the command `isoscope`: a word, and what stands behind it.
 *
 * A word that is not in the table belongs to the Python client, which knows its own commands.
 */
#include "inherited.h"
#include "python.h"
#include "run.h"
#include "say.h"
#include "status.h"
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
    { "run", run_command, "run a program with the sampler in it and serve its profile" },
    { "symbolize", symbolize_command, "name addresses that a profile without symbols has left" },
    { "help", help_command, "this list" },
    { "--help", help_command, NULL },
    { "-h", help_command, NULL },
    { "--version", version_command, NULL },
};

/* Written in Python; named here so that one list shows them all. */
static const struct command python_commands[] = {
    { "tree", NULL, "print the call tree of a running service" },
};

static void list(const struct command *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (first[i].help)
            printf("  %-9s %s\n", first[i].word, first[i].help);
}

static int help_command(int argc, char **argv, const struct inherited *inherited)
{
    (void)argc, (void)argv, (void)inherited;
    printf("Usage: isoscope COMMAND [OPTIONS]\n\n"
           "Makes native programs answer the Dart VM service protocol.\n\n");
    list(commands, sizeof(commands) / sizeof(commands[0]));
    list(python_commands, sizeof(python_commands) / sizeof(python_commands[0]));
    printf("\n`isoscope COMMAND --help` tells more.\n");
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
        say("no command given; `isoscope help` lists them");
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].word) != 0)
            continue;
        inherited_save(&inherited);
        return commands[i].act(argc - 1, argv + 1, &inherited);
    }
    return python_command(argv + 1);
}
