/* words.h - how often each word of a text occurs. */
#ifndef PACK_WORDS_H
#define PACK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word {
    const char *text; /* in the text that was counted; not ended by a zero */
    uint32_t length;
    uint32_t count;
};

struct words {
    struct word *slots; /* a hash table; count 0: free */
    size_t slot_count;  /* a power of two */
    size_t used;
};

bool is_word_letter(char letter);

/* Groups of so many words that follow each other: 1 counts words, 2 pairs. */
void words_count(struct words *words, const char *text, size_t size, unsigned group);
/* The one that occurs most often. */
const struct word *words_commonest(struct words *words);
void words_free(struct words *words);

#endif
