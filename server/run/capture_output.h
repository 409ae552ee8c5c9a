/*
 * capture_output.h - the program's standard output and error on their way to where they would have
 * gone, and to the clients.
 *
 *   program -> pipe or terminal of ours -> thread -> our own 1 and 2
 *                                            '-----> heard_output, in the service
 *
 * A stream that is a terminal stays one for the program (a pseudoterminal with the same modes and
 * size), any other is a pipe. Each stream keeps its order; between the two it may change. Who reads
 * our output slowly slows the program down as ever; clients never do: what they cannot take is
 * left out and counted. The output flows on when the service is no more.
 *
 * Threads    Two of its own, which only copy. All calls are the main thread's.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM with errno.
 */
#ifndef ISOSCOPE_CAPTURE_OUTPUT_H
#define ISOSCOPE_CAPTURE_OUTPUT_H

#include <stdint.h>

struct capture_output;

enum { CAPTURE_STREAMS = 2 }; /* in the order of enum service_output */

int capture_output_new(struct capture_output **out);
void capture_output_free(struct capture_output *capture); /* NULL is fine */

/* What heard_output_new wants; the caller owns it. */
int capture_output_take_hearer(struct capture_output *capture);

/* What the program gets as 1 and 2; -1: closed, as ours is. */
const int *capture_output_ends(const struct capture_output *capture);
/* The program has its ends. */
int capture_output_begin(struct capture_output *capture);
/* The program has ended: copies what it has left. Waits for who reads our output, until somebody
 * interrupts us. */
void capture_output_finish(struct capture_output *capture);
/* Bytes that went where they belong but were too many for the clients. */
uint64_t capture_output_left_out(const struct capture_output *capture);

#endif
