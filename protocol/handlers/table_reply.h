/*
 * table_reply.h - _getCpuSamples with "form": "table".
 */
#ifndef ISOSCOPE_TABLE_REPLY_H
#define ISOSCOPE_TABLE_REPLY_H

#include "../generated/methods.h"

/* Returns what a handler returns. */
/* Which store has them. */
enum sample_kind samples_kind_of(enum samples_kind kind);

int table_reply(struct client *client, const struct private_get_cpu_samples_params *params,
                struct reply *reply);

#endif
