/*
 * other_users.h - programs that were started as another user: the folder of the feed's socket is
 * not open to him, so they run without being sampled, and somebody should say so.
 *
 * A sampled process that changes its user stays sampled, until it is another program: then its feed
 * ends, and the process does not. A moment later it is looked at.
 *
 * Threads    The service thread.
 * Errors     0 or a negative isoscope_error. What cannot be read is not counted.
 */
#ifndef ISOSCOPE_OTHER_USERS_H
#define ISOSCOPE_OTHER_USERS_H

#include <sys/types.h>

struct loop;
struct other_users;

int other_users_new(struct other_users **out, struct loop *loop);
void other_users_free(struct other_users *users); /* NULL is fine */

/* The feed of a process has ended, which was the program at exe. */
void other_users_feed_ended(struct other_users *users, pid_t pid, const char *exe);
/* So many programs until now. */
unsigned other_users_count(struct other_users *users);

#endif
