/* early.h - a library whose constructor runs before a preloaded one's. TORTURE_EARLY=NUMBER makes
 * it take that signal there; early_take does it later. */
#ifndef TORTURE_EARLY_H
#define TORTURE_EARLY_H

#define EARLY_EXPORT __attribute__((visibility("default")))

EARLY_EXPORT extern _Atomic int early_count; /* signals seen */

EARLY_EXPORT void early_take(int number);
EARLY_EXPORT int early_add(int a, int b); /* something to call through the PLT */

#endif
