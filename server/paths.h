/*
 * paths.h - where the parts of isoscope lie, seen from the running binary.
 *
 * The tree is runnable as it is built, and after `make install` to any prefix, and after a move:
 *
 *     bin/isoscope  lib/libisoscope.so  lib/<arch>/isoscope/libisoscope.so  share/isoscope/python
 *
 * Ownership  The caller frees what it gets.
 * Errors     0, -ISOSCOPE_NOT_FOUND, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_PATHS_H
#define ISOSCOPE_PATHS_H

int paths_library(char **out); /* the library to preload */
int paths_python(char **out);  /* the folder that holds the Python package `isoscope` */

void paths_freep(char **path);

#endif
