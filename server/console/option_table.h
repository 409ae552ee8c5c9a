/*
 * option_table.h - the options of a command, a row for each: how it is read, and what help says.
 *
 *   rows -> option_table_parse -> the command's own struct
 *        -> option_table_help -> `--help` -> man page, completion (clients/python's catalogue)
 *
 * Ownership  Rows are static. Words that are taken point into argv.
 * Errors     A sentence in error that names the option, what was given, and what would be right.
 */
#ifndef ISOSCOPE_OPTION_TABLE_H
#define ISOSCOPE_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What is at the row's offset, and what the option makes of it. */
enum option_kind {
    OPTION_ON,     /* bool: true */
    OPTION_OFF,    /* bool: false; true where it is not given */
    OPTION_HELP,   /* bool: true, and nothing behind it is read */
    OPTION_UINT16, /* numbers of the row's range */
    OPTION_UINT32,
    OPTION_MAYBE,  /* uint32_t: behind "="; initial without that, 0 where it is not given */
    OPTION_MIB,    /* size_t: bytes */
    OPTION_CHOICE, /* unsigned: which of the row's words */
    OPTION_WORD,   /* const char *: one of the row's words */
    OPTION_TAKEN,  /* whatever the row's function makes of it */
};

/* Says what is wrong with text, without the option's name, and returns -ISOSCOPE_INVALID. */
typedef int option_take(void *field, const char *text, char *error, size_t error_size);

struct option_row {
    const char *word; /* "depth" */
    char letter;      /* "-h" does the same; '\0': none does */
    enum option_kind kind;
    size_t offset;
    unsigned long least, most, initial;
    const char *means;        /* what the number is: "a number of frames" */
    const char *const *words; /* up to a NULL; the first one where the option is not given */
    option_take *take;
    const char *value; /* what help calls it; NULL: nothing, or the words */
    const char *help;  /* of "{range}" and "{default}" it makes the row's */
    const char *group; /* NULL: that of the row before */
};

/* Rows that several commands may have; their offsets are in one struct. */
struct option_rows {
    const struct option_row *list;
    size_t count;
};

struct option_part {
    const struct option_rows *rows;
    size_t offset; /* of their struct, in the command's */
};

struct option_table {
    const char *command; /* "isoscope run" */
    const struct option_part *parts;
    size_t count;
    bool anywhere; /* options may stand behind other words too; else the first word ends them */
};

enum { OPTION_ROWS_MAX = 64 };

/* Sets what is not given too; but nothing for OPTION_TAKEN. Returns the place in argv of the first
 * word that is no option and belongs to none, where it stops. With "anywhere" those words are moved
 * behind the options. */
int option_table_parse(const struct option_table *table, void *options, int argc, char **argv,
                       char *error, size_t error_size);

/* All rows, under the names of their groups. */
void option_table_help(const struct option_table *table, FILE *out);

/* Both, as a command does it: what is wrong is said, and so is usage with the rows where the help row's
 * option was given. Then *status is the command's, and the answer -1. */
int option_table_begin(const struct option_table *table, const char *usage, void *options, int argc,
                       char **argv, int *status);

#endif
