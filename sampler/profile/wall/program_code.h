/*
 * program_code.h - what is mapped with code in a profiled program, and how to unwind it, seen from
 * here.
 *
 *   /proc/PID/maps -> capture/modules -> table_store.h (which table) -> the map that sleepers are
 *     walked by
 *
 * The program's own list knows what its ticks have met; one that only sleeps has met nothing. So
 * the rounds have a list of their own, with numbers of their own: from FEED_MODULES_MAX on.
 *
 * Ownership  Tables are mapped once for all programs, by struct mapped_tables.
 * Threads    The rounds' thread; program_code_module: any.
 * Errors     Where the kernel refuses to tell, there is no map.
 */
#ifndef ISOSCOPE_PROGRAM_CODE_H
#define ISOSCOPE_PROGRAM_CODE_H

#include "../../capture/modules/modules.h"
#include "../../feed/feed_reader.h"
#include "../base/map64.h"
#include "../unwinding/table_store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* All zeros but for the first two at first. */
struct mapped_tables {
    struct table_store *store; /* NULL: there are no tables */
    const char *path;          /* of its file */
    struct shared_tables file;
    struct map64 numbers; /* place in the file -> list[number - 1] */
    const struct unwind_table **list;
    uint64_t *bytes;
    uint32_t count, capacity;
};
void mapped_tables_free(struct mapped_tables *tables);

struct program_code {
    struct mapped_tables *tables;
    pthread_mutex_t lock; /* the list of files, which grows */
    struct modules modules;
    int64_t tables_us;  /* so long the first tables are waited for; 0: it has not begun */
    int64_t asked_us;   /* when tables were asked for last */
    int64_t unknown_us; /* the last look for the sake of unknown code */
    int64_t unknown_wait_us;
    bool unknown;
};

void program_code_new(struct program_code *code, struct mapped_tables *tables,
                      const struct jit_process *process);
void program_code_free(struct program_code *code);

/* Looks again where that is due. unloads: the program's count of dlcloses. True: stacks may be
 * walked further than before. */
bool program_code_follow(struct program_code *code, uint32_t unloads, int64_t now_us);
/* The first tables are there, or come too late. */
bool program_code_is_ready(const struct program_code *code, int64_t now_us);
/* NULL: nothing is known. */
const struct code_map *program_code_map(const struct program_code *code);
/* A stack led into code that is not known. */
void program_code_note_unknown(struct program_code *code);

/* number: from a frame. The path lives as long as code. */
bool program_code_module(struct program_code *code, uint32_t number, struct feed_module_view *out);

#endif
