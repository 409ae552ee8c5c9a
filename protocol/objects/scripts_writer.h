/*
 * scripts_writer.h - a ScriptList as text, composed while it is sent: a large program has
 * thousands.
 *
 * Ownership  scripts_writer_new takes over the scripts, also when it fails.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SCRIPTS_WRITER_H
#define ISOSCOPE_SCRIPTS_WRITER_H

#include "scripts.h"
#include "../rpc/reply_stream.h"

/* envelope: what comes before the result. Each URI once: compilers call a file by several paths. */
int scripts_writer_new(struct reply_stream **out, struct scripts *scripts, const char *envelope);

#endif
