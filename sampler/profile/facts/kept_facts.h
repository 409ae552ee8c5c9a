/*
 * kept_facts.h - facts of facts.h that a session has kept: as they were when they were last seen.
 *
 *   session reader -> kept_facts -> facts.h
 *
 * Ownership  kept_facts_new makes, kept_facts_free releases. Texts are copied.
 * Threads    One that puts, before all that read.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_KEPT_FACTS_H
#define ISOSCOPE_KEPT_FACTS_H

#include "../facts.h"

#include <stdbool.h>

struct kept_facts;

int kept_facts_new(struct kept_facts **out);
void kept_facts_free(struct kept_facts *kept); /* NULL is fine */

int kept_facts_put_cpu(struct kept_facts *kept, const char *cpu);
/* Takes the place of what was put for the process before. mappings: of these, too; others come. */
int kept_facts_put_memory(struct kept_facts *kept, uint64_t process_id,
                          const struct process_memory *memory, bool mappings);
int kept_facts_put_mapping(struct kept_facts *kept, uint64_t process_id, const char *path,
                           uint64_t rss_bytes);
int kept_facts_put_source(struct kept_facts *kept, const char *file, const char *text,
                          size_t length);

const char *kept_facts_cpu(const struct kept_facts *kept); /* NULL: not known */
struct process_memory kept_facts_memory(const struct kept_facts *kept, uint64_t process_id);
void kept_facts_mappings(const struct kept_facts *kept, uint64_t process_id, mapping_found found,
                         void *context);
/* As profile_source_text. */
char *kept_facts_source(const struct kept_facts *kept, const char *file, size_t *length);

#endif
