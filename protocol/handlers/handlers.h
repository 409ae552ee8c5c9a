/*
 * handlers.h - what all handlers share. One file per subject; generated/methods.h has the
 * prototypes, made from schemas/methods.
 */
#ifndef ISOSCOPE_HANDLERS_H
#define ISOSCOPE_HANDLERS_H

#include "../client/answer.h"
#include "../client/client.h"
#include "../generated/methods.h"

/* The version of the Dart Development Service whose methods are there. */
enum { DDS_MAJOR = 2, DDS_MINOR = 0 };

#endif
