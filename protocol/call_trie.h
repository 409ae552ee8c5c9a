/*
 * call_trie.h - stacks merged into a tree, for the older methods, where the service builds it.
 *
 * An entry is a number of the caller's: a function, or a tag. The root is node 0.
 *
 * Ownership  The caller owns a struct call_trie; zeroed is empty, call_trie_free gives it back.
 * Errors     Out of memory sets failed, and nodes are 0 from then on: look once, at the end.
 */
#ifndef ISOSCOPE_CALL_TRIE_H
#define ISOSCOPE_CALL_TRIE_H

#include "json_writer.h"

struct call_trie_node {
    uint32_t entry, parent;
    uint32_t first_child, next; /* 0: none, for the root is no child */
    uint32_t child_count;
    uint64_t ticks; /* samples that came this way */
};

struct call_trie {
    struct call_trie_node *nodes;
    uint32_t count, capacity;
    bool failed;
};

void call_trie_begin(struct call_trie *trie, uint32_t root_entry);
/* The child of parent with that entry, made when it is not there, and one tick more for it. */
uint32_t call_trie_step(struct call_trie *trie, uint32_t parent, uint32_t entry);
void call_trie_free(struct call_trie *trie);

/*
 * Depth first, parents before children, as a list of numbers. A node is
 *     code:      entry, ticks, children, 0, 0
 *     function:  entry, ticks, 0, 0, 1, entry, ticks, children
 * The zeros are native allocations; a function is all in one code, of its own number.
 */
void call_trie_write_codes(struct json_text *text, const struct call_trie *trie);
void call_trie_write_functions(struct json_text *text, const struct call_trie *trie);

#endif
