/*
 * nearest.h - what a mistyped word was meant to be.
 *
 *   struct nearest nearest = { .word = "tre" };
 *   nearest_try(&nearest, "tree");  ...  nearest.found: "tree", or NULL
 */
#ifndef ISOSCOPE_NEAREST_H
#define ISOSCOPE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *found; /* the nearest of those tried; NULL: none is near */
    size_t distance;   /* its distance: letters changed, put in, left out, or swapped */
};

void nearest_try(struct nearest *nearest, const char *candidate);

#endif
