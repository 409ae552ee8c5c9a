/*
 * request_mutator.h - changes a conversation so that it stays one: by methods, parameters and words
 * of the generated tables, so that what schemas/ gains is tried without a change here.
 *
 * A conversation is lines; a line is a client's number ('0' to '3') and its message, or a '!' and
 * a letter (protocol_fuzz.c).
 *
 * Ownership  Works in place, like LLVMFuzzerCustomMutator.
 */
#ifndef ISOSCOPE_REQUEST_MUTATOR_H
#define ISOSCOPE_REQUEST_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* The new length; 0 when what came out has no room in size_max. */
size_t request_mutate(uint8_t *bytes, size_t size, size_t size_max, unsigned seed);

#endif
