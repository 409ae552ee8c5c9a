/*
 * unsampled.h - programs below the one that was started which run without being sampled, and why:
 * somebody should say so.
 *
 *   candidates.c (finds them, and why) -> unsampled -> clients, the user's terminal
 *
 * One that lives for less than 0.3 s may be missed: a turn among the children, and two looks. What
 * is sampled after all is taken back.
 *
 * Threads    The service thread.
 * Errors     0 or a negative isoscope_error. What cannot be read is not told of.
 */
#ifndef ISOSCOPE_UNSAMPLED_H
#define ISOSCOPE_UNSAMPLED_H

struct loop;
struct profile;
struct service;
struct unsampled;

struct unsampled_options {
    struct profile *profile;
    struct service *service; /* tells clients */
    const char *feed_path;   /* of the socket, which a program must see */
};

int unsampled_new(struct unsampled **out, struct loop *loop,
                  const struct unsampled_options *options);
void unsampled_free(struct unsampled *unsampled); /* NULL is fine */

/* A program is told of when it is first found, also to clients; this tells at the end how often
 * there were more. */
void unsampled_say_more(struct unsampled *unsampled);

#endif
