/*
 * chain_columns.h - what frames are in the source, many at a time: CHNS.
 *
 * Frames of which nothing is known are not told.
 *
 * Ownership  struct chain_list is the user's: all zeros is empty, chain_list_free ends it.
 * Errors     Writing: bytes.h. Reading: NULL, or why the columns cannot be.
 */
#ifndef ISOSCOPE_SESSION_CHAIN_COLUMNS_H
#define ISOSCOPE_SESSION_CHAIN_COLUMNS_H

#include "../../naming/inline_chains.h"
#include "columns.h"
#include "function_entry.h"

enum { CHAINS_AT_ONCE = 65536 }; /* in one block */

struct listed_chain {
    uint64_t frame;
    uint32_t first, count; /* of places */
};

struct chain_list {
    struct listed_chain *chains;
    uint32_t count, capacity;
    struct chain_frame *places;
    uint32_t place_count, place_capacity;
};

/* False: no memory. */
bool chain_list_put(struct chain_list *list, uint64_t frame, const struct chain_frame *places,
                    uint32_t count);
/* Sorts them, for chain_columns_write. */
void chain_list_sort(struct chain_list *list);
void chain_list_clear(struct chain_list *list);
void chain_list_free(struct chain_list *list);

/* Of a function's last place, in the file's blocks so far. All zeros: there are none;
 * chain_state_free ends it. */
struct chain_state {
    struct map64 lines, files; /* by function; files: number in the file */
};

void chain_state_free(struct chain_state *state);

/* Chains [first, end) of the list. */
void chain_columns_write(const struct chain_list *list, uint32_t first, uint32_t end,
                         struct functions *functions, struct chain_state *state,
                         struct columns *columns, struct bytes *out);

const char *chain_columns_read(const struct bytes *content, const struct function_numbers *numbers,
                               struct functions *functions, struct chain_state *state,
                               struct inline_chains *chains);

#endif
