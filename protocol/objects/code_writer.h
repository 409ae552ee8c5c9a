/*
 * code_writer.h - a _Disassembly as text, composed while it is sent: a function may have thousands
 * of instructions.
 *
 * Ownership  code_writer_new takes over the request, also when it fails.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_CODE_WRITER_H
#define ISOSCOPE_CODE_WRITER_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/code.h"

/* code: whose listing is there. envelope: what comes before the result. */
int code_writer_new(struct reply_stream **out, struct code_request *code, const char *envelope);

#endif
