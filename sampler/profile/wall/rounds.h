/*
 * rounds.h - wall mode: each period a round over the threads of every program that is in it.
 *
 *   collector (a program comes, goes) -> rounds, on a thread of their own -> subject.h
 *     -> ring 0 of each feed -> drain.h
 *
 * Nothing of this runs in the programs. Where no program is in wall mode the thread sleeps.
 *
 * Ownership  Subjects are the rounds'; rounds_leave takes one away and frees it.
 * Threads    Any; rounds_leave returns when no round looks at the subject any more.
 * Errors     rounds_new, rounds_start: 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_ROUNDS_H
#define ISOSCOPE_ROUNDS_H

#include "../../feed/feed_reader.h"
#include "../unwinding/table_store.h"

struct round;
struct rounds;
struct subject;

/* tables: borrowed, with the path of its file; NULL: stacks of sleepers have their leaf only. */
int rounds_new(struct rounds **out, struct table_store *tables, const char *tables_path);
int rounds_start(struct rounds *rounds);
/* Ends the thread: there are no more rounds. */
void rounds_stop(struct rounds *rounds);
/* When all subjects have left. NULL is fine. */
void rounds_free(struct rounds *rounds);

/* NULL: its feed is laid out in another way, or there is no memory. reader must outlive it. pid: as
 * it is seen from here, 0 where it is not. */
struct subject *rounds_enter(struct rounds *rounds, struct feed_reader *reader, int32_t pid);
void rounds_leave(struct subject *subject); /* NULL is fine */
/* Another program has its pid: no more rounds. NULL is fine. */
void rounds_pause(struct subject *subject);
/* It has ended: the last that is known of its threads goes into its feed. NULL is fine. */
void rounds_finish(struct subject *subject);
/* What is wanted of programs has changed. */
void rounds_look(struct rounds *rounds);
/* Between two rounds of the program; 0: it is not in wall mode, or NULL. */
uint32_t rounds_period_us(const struct subject *subject);
/* number: from a frame of ring 0. As in program_code.h. */
bool rounds_module(struct subject *subject, uint32_t number, struct feed_module_view *out);
/* A look beside the rounds, in any mode: nobody else reads the program or writes its ring 0 until rounds_end_look. NULL:
 * it is not to be read now, and there is nothing to end. */
struct round *rounds_begin_look(struct subject *subject, int64_t now_us);
void rounds_end_look(struct subject *subject);
/* All that is due, now; for tests, which start no thread. Returns when the next one is. */
int64_t rounds_hold(struct rounds *rounds, int64_t now_us);

#endif
