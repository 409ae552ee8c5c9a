/*
 * mapped_files.h - which files a process has mapped with code, now.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_MAPPED_FILES_H
#define ISOSCOPE_MAPPED_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Calls found for each mapping of code that has a path; one without " (deleted)", until found returns. False:
 * the maps cannot be read, or not to their end. */
bool mapped_files(int32_t pid, void (*found)(void *context, const char *path), void *context);
/* Bytes of a path that a module has, without " (deleted)". */
uint32_t mapped_file_bytes(const char *path);

#endif
