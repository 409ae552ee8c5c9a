/*
 * door.h - the host's port: a connection goes to the process of the user whose token its request has.
 *
 *   TCP -> request's head, looked at and left where it is -> the room -> web.h
 *
 * Who has no user's token hears 403, from here. All else (Host, Origin, places) is the room's to decide.
 *
 * Ownership  Connections belong to the loop; free after loop_free.
 * Threads    The host's one thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_DOOR_H
#define ISOSCOPE_DOOR_H

struct door;
struct loop;
struct rooms;

/* Takes over listener, also on failure. */
int door_new(struct door **out, struct loop *loop, int listener, struct rooms *rooms);
void door_free(struct door *door); /* NULL is fine */

#endif
