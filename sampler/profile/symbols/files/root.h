/*
 * root.h - opens files by the path a process sees: in our own tree, or in its container or chroot.
 *
 * Whatever is no regular file is refused, and never waited for: a path is a stranger's word.
 *
 * Ownership  Descriptors belong to the caller.
 * Errors     root_open gives -1 and a reason, in static memory.
 */
#ifndef ISOSCOPE_ROOT_H
#define ISOSCOPE_ROOT_H

#include <stdint.h>

enum { ROOT_OURS = -1 };

/* The tree that the process sees, when it is another one than ours; else, or where it cannot be
 * looked at, ROOT_OURS, which needs no root_close. */
int root_of(int32_t pid);
void root_close(int root);
void root_closep(int *root);

/* Symbolic links are followed as the process would. path: absolute. */
int root_open(int root, const char *path, const char **reason);

#endif
