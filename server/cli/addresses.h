/*
 * addresses.h - names for single addresses: `isoscope symbolize` without a file.
 *
 *   standard input: "BUILD_ID OFFSET PATH" -> files of this machine -> standard output: JSON lines
 */
#ifndef ISOSCOPE_ADDRESSES_H
#define ISOSCOPE_ADDRESSES_H

/* Returns the exit status; what went wrong has been said. */
int addresses_symbolize(void);

#endif
