#include "call_trie.h"

#include <stdlib.h>

/* Returns its number; 0 when out of memory. */
static uint32_t add_node(struct call_trie *trie, uint32_t entry)
{
    if (trie->count == trie->capacity) {
        uint32_t capacity = trie->capacity ? trie->capacity * 2 : 256;
        struct call_trie_node *nodes = reallocarray(trie->nodes, capacity, sizeof(*nodes));

        if (!nodes) {
            trie->failed = true;
            return 0;
        }
        trie->nodes = nodes;
        trie->capacity = capacity;
    }
    trie->nodes[trie->count] = (struct call_trie_node){ .entry = entry };
    return trie->count++;
}

void call_trie_begin(struct call_trie *trie, uint32_t root_entry)
{
    add_node(trie, root_entry);
}

static uint32_t child(struct call_trie *trie, uint32_t parent, uint32_t entry)
{
    uint32_t node = trie->nodes[parent].first_child;

    while (node && trie->nodes[node].entry != entry)
        node = trie->nodes[node].next;
    if (node || !(node = add_node(trie, entry)))
        return node;
    trie->nodes[node].parent = parent;
    trie->nodes[node].next = trie->nodes[parent].first_child;
    trie->nodes[parent].first_child = node;
    trie->nodes[parent].child_count++;
    return node;
}

uint32_t call_trie_step(struct call_trie *trie, uint32_t parent, uint32_t entry)
{
    uint32_t node = trie->failed ? 0 : child(trie, parent, entry);

    if (!trie->failed)
        trie->nodes[node].ticks++;
    return node;
}

void call_trie_free(struct call_trie *trie)
{
    free(trie->nodes);
    *trie = (struct call_trie){ 0 };
}

static void put_numbers(struct json_text *text, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_text_uint(text, numbers[i]);
        json_text_literal(text, ",");
    }
}

static void put_code(struct json_text *text, const struct call_trie_node *node)
{
    const uint64_t numbers[] = { node->entry, node->ticks, node->child_count, 0, 0 };

    put_numbers(text, numbers, sizeof(numbers) / sizeof(*numbers));
}

static void put_function(struct json_text *text, const struct call_trie_node *node)
{
    const uint64_t numbers[] = { node->entry, node->ticks, 0,           0,
                                 1,           node->entry, node->ticks, node->child_count };

    put_numbers(text, numbers, sizeof(numbers) / sizeof(*numbers));
}

/* The node after this one, depth first; 0 at the end. */
static uint32_t following(const struct call_trie *trie, uint32_t node)
{
    if (trie->nodes[node].first_child)
        return trie->nodes[node].first_child;
    while (node && !trie->nodes[node].next)
        node = trie->nodes[node].parent;
    return node ? trie->nodes[node].next : 0;
}

static void write_nodes(struct json_text *text, const struct call_trie *trie,
                        void (*put)(struct json_text *, const struct call_trie_node *))
{
    uint32_t node = 0;

    json_text_literal(text, "[");
    do {
        put(text, &trie->nodes[node]);
        node = following(trie, node);
    } while (node && !text->failed);
    if (!text->failed)
        text->data[text->length - 1] = ']'; /* in place of the last comma */
}

void call_trie_write_codes(struct json_text *text, const struct call_trie *trie)
{
    write_nodes(text, trie, put_code);
}

void call_trie_write_functions(struct json_text *text, const struct call_trie *trie)
{
    write_nodes(text, trie, put_function);
}
