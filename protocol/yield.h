/*
 * yield.h - a Dart Development Service in front: one client in place of all others.
 */
#ifndef ISOSCOPE_YIELD_H
#define ISOSCOPE_YIELD_H

struct client;

/* The client leaves. If it was the one in front, others may come in again. */
void yield_ends(struct client *client);

#endif
