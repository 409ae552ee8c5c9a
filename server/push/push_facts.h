/*
 * push_facts.h - what labels tell of a process: which build it is. Where it runs: outside/process_place.h.
 *
 * Errors     None: what cannot be read, or is not so, is "".
 */
#ifndef ISOSCOPE_PUSH_FACTS_H
#define ISOSCOPE_PUSH_FACTS_H

enum { PUSH_ID_BYTES = 2 * 64 + 1 };

/* Of its program's file, in hexadecimal digits. */
void push_build_of(int pid, char out[PUSH_ID_BYTES]);

#endif
