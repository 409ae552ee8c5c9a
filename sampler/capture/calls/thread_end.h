/*
 * thread_end.h - hears of a thread's end, in whatever way it ends, in the thread itself.
 *
 *   thread_end_hear (once) -> thread_end_tell (each thread) -> the function, with the thread's slot
 *
 * A key of thread-specific data does it, which is made with the program's first thread: most
 * programs make none. There are 1,024, and all of them are the program's: where it asks for the
 * last one it gets ours, and who scans the tasks finds who has gone.
 *
 * Runs after the destructors of C++'s thread_local objects, and before those of the program's keys.
 *
 * Threads    thread_end_hear: one. thread_end_begin: any, but in no signal handler.
 *            thread_end_tell: any, for itself.
 */
#ifndef ISOSCOPE_THREAD_END_H
#define ISOSCOPE_THREAD_END_H

#include <stdint.h>

void thread_end_hear(void (*ended)(uint32_t slot));
/* From now on ends are heard of; a thread that told of itself before must tell again. */
void thread_end_begin(void);
/* slot: 0 has no end that matters. */
void thread_end_tell(uint32_t slot);

#endif
