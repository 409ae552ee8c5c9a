/*
 * script_places.h - whose code a runtime's file is: the user's own, or the runtime's and packages'.
 *
 * What came with the runtime or was installed beside the program is "system", as shared libraries
 * of the system are: standard libraries, site-packages and dist-packages, node_modules, gems, vendor, and
 * what has no file because it is built into the runtime ("<frozen importlib._bootstrap>", "node:fs").
 * A file that a program made itself ("<string>") is the user's.
 *
 * Threads    Any; no state.
 */
#ifndef ISOSCOPE_SCRIPT_PLACES_H
#define ISOSCOPE_SCRIPT_PLACES_H

#include "../../feed/layout.h"

#include <stdbool.h>

bool script_is_system(enum feed_runtime_kind runtime, const char *path);

/* What is behind the folder of installed packages, or of the runtime's own library: "flask/app.py",
 * "python3.11/json/decoder.py". NULL: path is in neither. */
const char *script_package(enum feed_runtime_kind runtime, const char *path);

#endif
