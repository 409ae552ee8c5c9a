/*
 * room_serve.h - the process that serves one user, with his rights and no others.
 *
 *   host --link--> room_serve: feeds -> profile; clients -> web
 *
 * It is started by the host (rooms.h), and ends with it.
 *
 * Errors     Said on stderr.
 */
#ifndef ISOSCOPE_ROOM_SERVE_H
#define ISOSCOPE_ROOM_SERVE_H

struct inherited;

/* A command that no user types: the link is descriptor ROOM_LINK_FD, the words are the host's. */
int room_command(int argc, char **argv, const struct inherited *inherited);

#endif
