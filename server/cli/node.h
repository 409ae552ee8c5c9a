/*
 * node.h - the commands that are written in TypeScript (lsp), under the same name.
 *
 * Errors     Returns only on failure, with the exit status; the reason has been said then.
 */
#ifndef ISOSCOPE_NODE_H
#define ISOSCOPE_NODE_H

/* Becomes `node .../WORD.mjs ARGS...`. arguments: the command's word first, NULL-terminated. */
int node_command(char **arguments);

#endif
