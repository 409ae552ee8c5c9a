/*
 * table_reader.h - what samples refer to, into a profile: processes, modules, threads, names, facts.
 *
 * Errors     Fail their entry.
 */
#ifndef ISOSCOPE_SESSION_TABLE_READER_H
#define ISOSCOPE_SESSION_TABLE_READER_H

#include "session_reader.h"

void table_reader_processes(struct session_reader *reader, struct entry *entry);
void table_reader_modules(struct session_reader *reader, struct entry *entry);
void table_reader_threads(struct session_reader *reader, struct entry *entry);
void table_reader_names(struct session_reader *reader, struct entry *entry);
void table_reader_facts(struct session_reader *reader, struct entry *entry);
/* The profile's id of a process of the file; 0: it is not there. */
uint64_t table_reader_process(const struct session_reader *reader, uint64_t id);

#endif
