/*
 * isolate_labels.h - names that clients gave to isolates: a list, of one for each number.
 *
 * Ownership  The caller owns the list; NULL is an empty one.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_ISOLATE_LABELS_H
#define ISOSCOPE_ISOLATE_LABELS_H

#include <stdint.h>

struct isolate;
struct isolate_label;

/* In place of the one that it had. */
int isolate_labels_put(struct isolate_label **labels, uint64_t number, const char *name);
/* Gives the isolate the name that clients gave it, if any. */
void isolate_labels_apply(const struct isolate_label *labels, struct isolate *isolate);
void isolate_labels_free(struct isolate_label *labels);

#endif
