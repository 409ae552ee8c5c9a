/* passages.h - the longest passage that occurs twice in a text. */
#ifndef PACK_PASSAGES_H
#define PACK_PASSAGES_H

#include <stddef.h>

/* Both begin with a word. Gives the length; *first and *second tell where they are. */
size_t passages_longest(const char *text, size_t size, const char **first, const char **second);

#endif
