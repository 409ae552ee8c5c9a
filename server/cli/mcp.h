/*
 * mcp.h - `isoscope mcp`: a Model Context Protocol server, which node runs (clients/editor).
 *
 * Options are read here, so that --help, the man page and completion need no node.
 */
#ifndef ISOSCOPE_MCP_H
#define ISOSCOPE_MCP_H

struct inherited;

/* As main.c's commands. Returns only on failure and after --help. */
int mcp_command(int argc, char **argv, const struct inherited *inherited);

#endif
