/*
 * lsp.h - `isoscope lsp`: a language server, which node runs (clients/editor).
 *
 * Options are read here, so that --help, the man page and completion need no node.
 */
#ifndef ISOSCOPE_LSP_H
#define ISOSCOPE_LSP_H

struct inherited;

/* As main.c's commands. Returns only on failure and after --help. */
int lsp_command(int argc, char **argv, const struct inherited *inherited);

#endif
