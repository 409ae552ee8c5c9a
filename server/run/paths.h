/*
 * paths.h - where the parts of isoscope lie, seen from the running binary.
 *
 * Each is looked for by its way from the binary, so that an install may be moved. A build tree has
 * bin/isoscope, lib/libisoscope.so.0 and share/isoscope/python; an install what CMake was told.
 *
 * Ownership  The caller frees what it gets.
 * Errors     0, -ISOSCOPE_NOT_FOUND, -ISOSCOPE_SYSTEM: said on stderr.
 */
#ifndef ISOSCOPE_PATHS_H
#define ISOSCOPE_PATHS_H

int paths_library(char **out); /* the library to preload */
int paths_python(char **out);  /* the folder that holds the Python package `isoscope` */
int paths_editor(char **out);  /* the folder that holds the scripts that node runs */

void paths_freep(char **path);

#endif
