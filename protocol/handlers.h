/*
 * handlers.h - what all handlers share. One handlers_*.c per subject; generated/methods.h has the
 * prototypes, made from schemas/methods.
 */
#ifndef ISOSCOPE_HANDLERS_H
#define ISOSCOPE_HANDLERS_H

#include "generated/methods.h"

/* The version of the Dart Development Service whose methods are there. */
enum { DDS_MAJOR = 2, DDS_MINOR = 0 };

/* Gives result as the answer; NULL means that building it ran out of memory. */
int answer(struct client *client, struct reply *reply, json_t *result);
int answer_success(struct client *client, struct reply *reply);

#endif
