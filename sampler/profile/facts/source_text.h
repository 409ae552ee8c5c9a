/*
 * source_text.h - the text of a source file, from below one folder and from nowhere else.
 *
 * A path in debug data is a stranger's word: it may point anywhere, by "..", by links, at devices.
 *
 * Ownership  The text is new: free() it.
 * Errors     NULL: it does not lie below the folder, is no plain file, is too long, or cannot be
 *            read. Which of these it is stays untold.
 */
#ifndef ISOSCOPE_SOURCE_TEXT_H
#define ISOSCOPE_SOURCE_TEXT_H

#include <stddef.h>

enum { SOURCE_TEXT_BYTES_MAX = 4 * 1024 * 1024 };

/* root: a folder, absolute. file: as the compiler was given it; absolute below root, or relative to
 * it. The text ends with a 0 that is not part of *length. */
char *source_text_read(const char *root, const char *file, size_t *length);

#endif
