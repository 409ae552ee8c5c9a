/*
 * process_entry.h - a process of a session: PROC.
 *
 * Errors     As entry.h.
 */
#ifndef ISOSCOPE_SESSION_PROCESS_ENTRY_H
#define ISOSCOPE_SESSION_PROCESS_ENTRY_H

#include "../../intake/processes.h"
#include "entry.h"

/* NULL: no memory. */
json_t *process_entry_write(const struct process_saved *process);
/* Fills in all but modules, which are numbers of the file: entry_list(entry, "modules"). */
void process_entry_read(struct entry *entry, struct process_saved *out);

#endif
