/*
 * far_code.h - the code that another process told the sampler of (a JIT's), read from here.
 *
 *   isoscope_code_register there -> capture/unwind/named_code.h, in that process's memory
 *     -> far_code_name -> a frame with a name
 *
 * It changes while it is read, and may be nonsense: only so many steps are made.
 *
 * Threads    One at a time.
 * Errors     false: nothing was told of this pc, or it cannot be read.
 */
#ifndef ISOSCOPE_FAR_CODE_H
#define ISOSCOPE_FAR_CODE_H

#include "../../feed/feed_writer.h"

#include <stdbool.h>
#include <stdint.h>

struct far_code {
    int32_t pid;
    uint64_t list;              /* of its struct named_code; 0: none */
    struct feed_writer *writer; /* where names go */
};

/* context: a struct far_code. */
bool far_code_name(void *context, uint64_t pc, uint64_t *frame);

#endif
