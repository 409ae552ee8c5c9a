/*
 * capture_output.h - the program's standard output and error on their way to where they would have
 * gone, and to the clients.
 *
 *   program -> pipe or terminal of ours -> thread -> our own 1 and 2
 *                                            '-----> service thread -> Stdout, Stderr
 *
 * A stream that is a terminal stays one for the program (a pseudoterminal with the same modes and
 * size), any other is a pipe. Each stream keeps its order; between the two it may change. Who reads
 * our output slowly slows the program down as ever; clients never do: what they cannot take is
 * left out and counted.
 *
 * Threads    Two of its own, which only copy. All calls are the service thread's.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM with errno.
 */
#ifndef ISOSCOPE_CAPTURE_OUTPUT_H
#define ISOSCOPE_CAPTURE_OUTPUT_H

#include "../protocol/service.h"

#include <stddef.h>
#include <stdint.h>

struct capture_output;
struct loop;

enum { CAPTURE_STREAMS = 2 }; /* in the order of enum service_output */

typedef void capture_output_wrote(void *context, enum service_output output, const void *bytes,
                                  size_t length);

/* wrote is called from the loop. */
int capture_output_new(struct capture_output **out, struct loop *loop, capture_output_wrote *wrote,
                       void *context);
void capture_output_free(struct capture_output *capture); /* after the loop; NULL is fine */

/* What the program gets as 1 and 2; -1: closed, as ours is. */
const int *capture_output_ends(const struct capture_output *capture);
/* The program has its ends. */
int capture_output_begin(struct capture_output *capture);
/* The program has ended: copies what it has left, and calls wrote for it. Waits for who reads our
 * output, until somebody interrupts us. */
void capture_output_finish(struct capture_output *capture);
/* Bytes that went where they belong but were too many for the clients. */
uint64_t capture_output_left_out(const struct capture_output *capture);

#endif
