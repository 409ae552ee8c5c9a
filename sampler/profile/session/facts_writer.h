/*
 * facts_writer.h - what the machine knows of processes, and the text of their source, in a session:
 * FACT, SRCE.
 *
 * Errors     As table_writer.h.
 */
#ifndef ISOSCOPE_SESSION_FACTS_WRITER_H
#define ISOSCOPE_SESSION_FACTS_WRITER_H

#include "../facts/kept_facts.h"
#include "table_writer.h"

/* Of all live processes, now and then; mappings, which cost more, less often. */
int facts_writer_memory(struct table_writer *writer, int64_t now_us, struct bytes *out);
/* Of files that the session has functions or lines of, once each. */
int facts_writer_sources(struct table_writer *writer, struct bytes *out);

/* Fails the entry without memory. process_id: the profile's. */
void facts_entry_read(struct entry *entry, struct kept_facts *kept, uint64_t process_id);
/* NULL, or why it cannot be. */
const char *source_block_read(const struct bytes *content, struct kept_facts *kept);

#endif
