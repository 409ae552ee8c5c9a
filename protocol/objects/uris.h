/*
 * uris.h - what a module is called where the wire wants a URI.
 *
 *   the user's own   package:<module>/<path of the source file>   without its first slash
 *                    package:<module>/<module>                    where no file is known
 *   of the system    file:///usr/lib/libc.so.6
 *   no file at all   native:vdso
 *
 * A file whose functions a runtime runs is source itself:
 *
 *   the user's own   file:///home/u/app.py
 *   packages         package:flask/app.py, package:python3.11/json/decoder.py
 *   no file at all   script:string
 *
 * DevTools hides the frames whose resolvedUrl is empty and charges them to their caller, by
 * default. So system libraries have none in getCpuSamples: uri_resolved writes nothing for them. Nor
 * has what is built into a runtime; its library and packages have one, as Dart's own have.
 *
 * Output is plain ASCII, ready to stand inside a JSON string.
 */
#ifndef ISOSCOPE_URIS_H
#define ISOSCOPE_URIS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

void uri_package(struct json_text *text, const char *module);
void uri_library(struct json_text *text, const struct snapshot_library *library);
/* Of a source file; NULL: not known. */
void uri_source(struct json_text *text, const struct snapshot_library *library, const char *file);
/* Its functions have source that people could read, and so scripts: those that profile_scripts tells. */
bool uri_has_scripts(const struct snapshot_library *library);
/* As uri_source, and nothing for what is not source that people could read. */
void uri_resolved(struct json_text *text, const struct snapshot_library *library, const char *file);
/* file:///... of an absolute path. */
void uri_file(struct json_text *text, const char *path);

#endif
