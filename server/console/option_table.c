#include "option_table.h"

#include "log_line.h"
#include "nearest.h"
#include "status.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROW = 256,
    SAID_BYTES = 256,
    ERROR_BYTES = 512
}; /* getopt's numbers: those below are letters */

struct flat_row {
    const struct option_row *row;
    void *field;
};

/* All rows, of all parts. */
static size_t flatten(const struct option_table *table, void *options,
                      struct flat_row out[OPTION_ROWS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < table->parts[i].rows->count; j++) {
            const struct option_row *row = &table->parts[i].rows->list[j];

            assert(count < OPTION_ROWS_MAX);
            out[count++] =
                (struct flat_row){ row, (char *)options + table->parts[i].offset + row->offset };
        }
    return count;
}

static bool takes_value(const struct option_row *row)
{
    return row->kind >= OPTION_UINT16;
}

static void set_number(const struct option_row *row, void *field, unsigned long value)
{
    if (row->kind == OPTION_UINT16)
        *(uint16_t *)field = (uint16_t)value;
    else if (row->kind == OPTION_UINT32 || row->kind == OPTION_MAYBE)
        *(uint32_t *)field = (uint32_t)value;
    else
        *(size_t *)field = (size_t)value << 20;
}

static void set_word(const struct option_row *row, void *field, unsigned number)
{
    if (row->kind == OPTION_CHOICE)
        *(unsigned *)field = number;
    else
        *(const char **)field = row->words[number];
}

static void set_initial(const struct option_row *row, void *field)
{
    switch (row->kind) {
    case OPTION_ON:
    case OPTION_OFF:
    case OPTION_HELP:
        *(bool *)field = row->kind == OPTION_OFF;
        return;
    case OPTION_CHOICE:
    case OPTION_WORD:
        set_word(row, field, 0);
        return;
    case OPTION_TAKEN:
        return;
    case OPTION_MAYBE:
        set_number(row, field, 0);
        return;
    default:
        set_number(row, field, row->initial);
    }
}

static int take_number(const struct option_row *row, void *field, const char *text, char *error,
                       size_t error_size)
{
    char *end = NULL;

    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    /* strtoul takes signs and spaces in front; a number of ours starts with a digit. */
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < row->least ||
        value > row->most) {
        snprintf(error, error_size, "'%s' is not %s from %lu to %lu", text, row->means, row->least,
                 row->most);
        return -ISOSCOPE_INVALID;
    }
    set_number(row, field, value);
    return 0;
}

/* "cpu or wall". */
static void join_words(const struct option_row *row, const char *between, char *out, size_t size)
{
    size_t length = 0;

    out[0] = '\0';
    for (const char *const *word = row->words; *word && length < size; word++)
        length += (size_t)snprintf(out + length, size - length, "%s%s",
                                   word == row->words ? "" : between, *word);
}

static int take_word(const struct option_row *row, void *field, const char *text, char *error,
                     size_t error_size)
{
    char words[SAID_BYTES];

    for (unsigned number = 0; row->words[number]; number++) {
        if (strcmp(text, row->words[number]))
            continue;
        set_word(row, field, number);
        return 0;
    }
    join_words(row, " or ", words, sizeof(words));
    snprintf(error, error_size, "'%s' is not %s", text, words);
    return -ISOSCOPE_INVALID;
}

static int take_value(const struct option_row *row, void *field, const char *text, char *error,
                      size_t error_size)
{
    switch (row->kind) {
    case OPTION_CHOICE:
    case OPTION_WORD:
        return take_word(row, field, text, error, error_size);
    case OPTION_TAKEN:
        return row->take(field, text, error, error_size);
    default:
        return take_number(row, field, text, error, error_size);
    }
}

static int take_option(const struct option_row *row, void *field, char *error, size_t error_size)
{
    size_t name;

    if (!takes_value(row)) {
        *(bool *)field = row->kind != OPTION_OFF;
        return 0;
    }
    if (row->kind == OPTION_MAYBE && !optarg) {
        set_number(row, field, row->initial);
        return 0;
    }
    snprintf(error, error_size, "--%s: ", row->word);
    name = strlen(error);
    return take_value(row, field, optarg, error + name, error_size - name);
}

/* All that a command line is read by. */
struct reading {
    const struct option_table *table;
    struct flat_row rows[OPTION_ROWS_MAX];
    size_t count;
};

/* word: "--perod=5", up to the value. */
static void refuse_long(const struct reading *reading, const char *word, char *error,
                        size_t error_size)
{
    char name[64];
    struct nearest nearest = { .word = name };
    const char *first = NULL, *second = NULL;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (size_t i = 0; i < reading->count; i++) {
        const char *there = reading->rows[i].row->word;

        nearest_try(&nearest, there);
        if (!strncmp(there, name, strlen(name))) {
            second = first;
            first = there;
        }
    }
    if (second)
        snprintf(error, error_size, "--%s can mean --%s or --%s", name, second, first);
    else if (nearest.found)
        snprintf(error, error_size, "--%s is not an option of %s; did you mean --%s?", name,
                 reading->table->command, nearest.found);
    else
        snprintf(error, error_size, "--%s is not an option of %s", name, reading->table->command);
}

/* word: what getopt has refused. */
static int refuse(const struct reading *reading, int option, const char *word, char *error,
                  size_t error_size)
{
    if (option == ':')
        snprintf(error, error_size, "%s wants a value", word);
    else if (optopt >= FIRST_ROW)
        snprintf(error, error_size, "%.*s takes no value", (int)strcspn(word, "="), word);
    else if (optopt)
        snprintf(error, error_size, "-%c is not an option of %s", optopt, reading->table->command);
    else
        refuse_long(reading, word, error, error_size);
    return -ISOSCOPE_INVALID;
}

struct getopt_words {
    struct option longs[OPTION_ROWS_MAX + 1];
    char letters[2 * OPTION_ROWS_MAX + 3];
};

static int argument_of(const struct option_row *row)
{
    if (row->kind == OPTION_MAYBE)
        return optional_argument;
    return takes_value(row) ? required_argument : no_argument;
}

static void tell_getopt(struct getopt_words *out, const struct reading *reading)
{
    /* "+": what follows the first word that is no option belongs to the program. */
    char *letter = stpcpy(out->letters, reading->table->anywhere ? ":" : "+:");

    for (size_t i = 0; i < reading->count; i++) {
        const struct option_row *row = reading->rows[i].row;

        out->longs[i] = (struct option){ row->word, argument_of(row), NULL, FIRST_ROW + (int)i };
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && takes_value(row))
            *letter++ = ':';
    }
    out->longs[reading->count] = (struct option){ 0 };
    *letter = '\0';
}

/* NULL: it is getopt's refusal. */
static const struct flat_row *row_of(const struct reading *reading, int option)
{
    if (option >= FIRST_ROW)
        return &reading->rows[option - FIRST_ROW];
    for (size_t i = 0; i < reading->count; i++)
        if (reading->rows[i].row->letter == option)
            return &reading->rows[i];
    return NULL;
}

int option_table_parse(const struct option_table *table, void *options, int argc, char **argv,
                       char *error, size_t error_size)
{
    struct reading reading = { .table = table };
    struct getopt_words words;
    int option;

    reading.count = flatten(table, options, reading.rows);
    tell_getopt(&words, &reading);
    for (size_t i = 0; i < reading.count; i++)
        set_initial(reading.rows[i].row, reading.rows[i].field);
    optind = 0; /* glibc: start over, also in a second call */
    opterr = 0;
    while ((option = getopt_long(argc, argv, words.letters, words.longs, NULL)) != -1) {
        const struct flat_row *found = row_of(&reading, option);
        int status = found ? take_option(found->row, found->field, error, error_size)
                           : refuse(&reading, option, argv[optind - 1], error, error_size);

        if (status < 0)
            return status;
        if (found->row->kind == OPTION_HELP)
            break;
    }
    return optind;
}

enum { HELP_COLUMN = 29, HELP_WIDTH = 96, HELP_BYTES = 1024 };

static bool is_next(const char **text, const char *word)
{
    size_t length = strlen(word);
    bool same = !strncmp(*text, word, length);

    *text += same ? length : 0;
    return same;
}

static void fill_in(char out[HELP_BYTES], const struct option_row *row)
{
    const char *text = row->help;
    int length = 0;

    while (*text) {
        char *rest = out + length;
        size_t size = (size_t)(HELP_BYTES - length);

        if (is_next(&text, "{range}"))
            length += snprintf(rest, size, "%lu to %lu", row->least, row->most);
        else if (is_next(&text, "{default}"))
            length += snprintf(rest, size, "%lu", row->initial);
        else
            length += snprintf(rest, size, "%c", *text++);
        assert(length < HELP_BYTES);
    }
    out[length] = '\0';
}

/* column: where out stands in its line. */
static void put_wrapped(FILE *out, const char *text, int column)
{
    while (*text) {
        int length = (int)strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column < HELP_COLUMN ? HELP_COLUMN - column : 1, "",
                          length, text);
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void put_row(const struct option_row *row, FILE *out)
{
    char value[SAID_BYTES] = "", text[HELP_BYTES];
    int column;

    if (row->value)
        snprintf(value, sizeof(value), "%s", row->value);
    else if (row->words)
        join_words(row, "|", value, sizeof(value));
    column = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->word)
                         : fprintf(out, "  --%s", row->word);
    if (*value)
        column += fprintf(out, row->kind == OPTION_MAYBE ? "[=%s]" : " %s", value);
    if (column > HELP_COLUMN - 1) {
        fputc('\n', out);
        column = 0;
    }
    fill_in(text, row);
    put_wrapped(out, text, column);
}

void option_table_help(const struct option_table *table, FILE *out)
{
    struct flat_row rows[OPTION_ROWS_MAX];
    char nowhere; /* no field is touched */
    size_t count = flatten(table, &nowhere, rows);

    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = rows[i].row;

        if (row->group)
            fprintf(out, "%s%s:\n", i ? "\n" : "", row->group);
        put_row(row, out);
    }
}

static bool asks_for_help(const struct option_table *table, void *options)
{
    struct flat_row rows[OPTION_ROWS_MAX];
    size_t count = flatten(table, options, rows);

    for (size_t i = 0; i < count; i++)
        if (rows[i].row->kind == OPTION_HELP && *(bool *)rows[i].field)
            return true;
    return false;
}

int option_table_begin(const struct option_table *table, const char *usage, void *options, int argc,
                       char **argv, int *status)
{
    char error[ERROR_BYTES];
    int first = option_table_parse(table, options, argc, argv, error, sizeof(error));

    if (first < 0) {
        log_line("%s", error);
        *status = STATUS_USAGE;
        return -1;
    }
    if (!asks_for_help(table, options))
        return first;
    fputs(usage, stdout);
    option_table_help(table, stdout);
    *status = STATUS_OK;
    return -1;
}
