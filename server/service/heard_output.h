/*
 * heard_output.h - the program's output as the service gets it: pieces that capture_output.h has
 * written where they belong already.
 *
 * Ownership  The descriptor is the loop's; heard_output_free after loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_HEARD_OUTPUT_H
#define ISOSCOPE_HEARD_OUTPUT_H

#include "../../protocol/service.h"

#include <stddef.h>

struct heard_output;
struct loop;

typedef void heard_output_wrote(void *context, enum service_output output, const void *bytes,
                                size_t length);

/* Takes over fd, also on failure. wrote is called from the loop. */
int heard_output_new(struct heard_output **out, int fd, struct loop *loop,
                     heard_output_wrote *wrote, void *context);
void heard_output_free(struct heard_output *heard); /* NULL is fine */

/* Takes at once what is there. */
void heard_output_drain(struct heard_output *heard);

#endif
