/*
 * pulls.h - clients that pull a profile by HTTP (service.h: client_pull), for service.c.
 *
 *   service_poll -> pulls_poll; client_wants_send -> pulls_work; client_send -> pulls_working
 */
#ifndef ISOSCOPE_PULLS_H
#define ISOSCOPE_PULLS_H

#include "../client/client.h"

void pulls_poll(struct service *service);
/* It has something to do for the client. */
bool pulls_work(const struct client *client);
void pulls_working(struct client *client);
void pulls_end(struct client *client); /* the client's end */

#endif
