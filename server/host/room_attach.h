/*
 * room_attach.h - a room attaches to processes of its user that run already, when a client asks.
 *
 *   protocol's _attach -> room_attach -> sampler/remote -> a feed -> profile_attach
 *
 * Ownership  Borrows loop and profile. room_attach_leave before the profile goes, room_attach_free after
 *            loop_free.
 * Threads    The service thread.
 * Errors     0 or a negative isoscope_error; of a process: in words.
 */
#ifndef ISOSCOPE_ROOM_ATTACH_H
#define ISOSCOPE_ROOM_ATTACH_H

#include "../../protocol/service.h"

struct loop;
struct profile;
struct room_attach;

/* What the service is to be made with, before there is a profile. */
int room_attach_new(struct room_attach **out, struct service_attacher *attacher);
/* tables: of the room's file. */
int room_attach_begin(struct room_attach *attach, struct loop *loop, struct profile *profile,
                      const char *tables);
void room_attach_leave(struct room_attach *attach); /* all processes; NULL is fine */
void room_attach_free(struct room_attach *attach);  /* NULL is fine */

#endif
