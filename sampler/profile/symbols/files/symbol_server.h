/*
 * symbol_server.h - debug files from the debuginfod servers in $DEBUGINFOD_URLS, when asked for.
 *
 * The work is libdebuginfod's, cache included. It is loaded when needed: the service runs without
 * it, and nothing else in isoscope speaks to a network.
 *
 * Threads    symbol_server_find: one thread, and it may take minutes. symbol_server_cancel: any.
 * Errors     symbol_server_new: 0, -ISOSCOPE_NO_MEMORY, or -ISOSCOPE_NOT_FOUND, see problem.
 */
#ifndef ISOSCOPE_SYMBOL_SERVER_H
#define ISOSCOPE_SYMBOL_SERVER_H

#include <stdint.h>

struct symbol_server;

/* Why there can be none, and what to do; NULL: there can. Static memory. */
const char *symbol_server_problem(void);

int symbol_server_new(struct symbol_server **out);
void symbol_server_free(struct symbol_server *server); /* NULL is fine */
/* For good: what is being asked ends within a second or two, and nothing is asked any more. */
void symbol_server_cancel(struct symbol_server *server); /* NULL is fine */

/* The descriptor of the build's debug file, the caller's; -1: no server has it. */
int symbol_server_find(struct symbol_server *server, const uint8_t *build_id,
                       uint32_t build_id_bytes);

#endif
