/*
 * kept_feeds.h - feeds, their clocks and users' tokens, which outlive this service in its supervisor's
 * store: programs tick on while it is started again, and addresses stay.
 *
 *   hello -> kept_feeds_add -> supervised_store       at the program's end -> supervised_forget
 *   start -> kept_feeds_adopt -> rooms
 *
 * A feed is found again only with its user's tables, for the program refers to these; else it says hello
 * once more, by itself.
 *
 * Ownership  Watches belong to the loop; free after loop_free.
 * Threads    The host's one thread.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; a feed that cannot be kept is sampled all the same.
 */
#ifndef ISOSCOPE_KEPT_FEEDS_H
#define ISOSCOPE_KEPT_FEEDS_H

struct feed_greeting;
struct kept_feeds;
struct loop;
struct room;
struct rooms;
struct supervised;

int kept_feeds_new(struct kept_feeds **out, struct loop *loop, struct supervised *supervised);
void kept_feeds_free(struct kept_feeds *kept); /* NULL is fine */

/* Of a program that said hello. */
void kept_feeds_add(struct kept_feeds *kept, const struct feed_greeting *greeting);
/* The token of a user who is new. */
void kept_feeds_add_user(struct kept_feeds *kept, const struct room *room);

/* What an earlier service has left, into its rooms. */
void kept_feeds_adopt(struct kept_feeds *kept, struct rooms *rooms);

#endif
