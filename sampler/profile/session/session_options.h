/*
 * session_options.h - session_options that outlive who gave them.
 */
#ifndef ISOSCOPE_SESSION_OPTIONS_H
#define ISOSCOPE_SESSION_OPTIONS_H

#include "../recorder.h"

/* False: no memory; then there is nothing to free. */
bool session_options_copy(struct session_options *out, const struct session_options *from);
void session_options_free(struct session_options *options);

#endif
