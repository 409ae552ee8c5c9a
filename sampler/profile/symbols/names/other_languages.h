/*
 * other_languages.h - names of D, Ada and OCaml made readable.
 *
 *     _D3k1d3f60FmZv        k1d.f60         brief; else k1d.f60(ulong)
 *     kada__f60.0           kada.f60        only where the file has code of GNAT
 *     camlKml__f60_85       Kml.f60
 *
 *   display_name -> other_languages -> libiberty (D, Ada)
 *
 * GNAT's names are C's, too: "foo__bar" is a fine name of a C function. So whoever asks says
 * whether the file is an Ada program's (other_languages_is_gnat).
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_OTHER_LANGUAGES_H
#define ISOSCOPE_OTHER_LANGUAGES_H

#include <stdbool.h>

/* A file with such a symbol has code of GNAT: its binder's, or its library's. */
bool other_languages_is_gnat(const char *symbol);

/* It may be such a name. */
bool other_languages_likely(const char *name, bool gnat);
/* brief: without parameters. The caller frees it. NULL: it is none, too long, or there is no
 * memory. */
char *other_languages_name(const char *name, bool gnat, bool brief);

#endif
