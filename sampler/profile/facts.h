/*
 * facts.h - what the machine knows of a profile's processes: the door from the wire to files.
 *
 *   /proc/PID/..., source files -> facts/ -> here -> protocol/, which opens no file itself
 *
 * They are the facts of now: a process that has ended has none. A saved profile (saved.h) has those
 * that were last seen.
 *
 * Units      bytes.
 * Ownership  What profile_source_text gives is new: free() it.
 * Threads    Any.
 * Errors     What cannot be read is 0, "unknown", or not told.
 */
#ifndef ISOSCOPE_FACTS_H
#define ISOSCOPE_FACTS_H

#include <stddef.h>
#include <stdint.h>

struct profile;

/* The model name of the first processor. */
void profile_host_cpu(struct profile *profile, char *out, size_t size);

struct process_memory {
    int64_t rss_bytes, rss_max_bytes;
    int64_t own_bytes;      /* resident and not shared with a file */
    int64_t reserved_bytes; /* what may become so: private, writable, stacks */
};

struct process_memory profile_memory(struct profile *profile, uint64_t process_id);

/* Tells each mapping, in the order of addresses: what it is of, in the words of /proc/PID/maps ("":
 * of nothing), and how much of it is in RAM. The path is lent until found returns. */
typedef void (*mapping_found)(void *context, const char *path, uint64_t rss_bytes);
void profile_mappings(struct profile *profile, uint64_t process_id, mapping_found found,
                      void *context);

/* The text of a source file, by the path that debug data has, from below
 * profile_options.source_root only. It ends with a 0 that is not part of *length. NULL: there is
 * none to see. */
char *profile_source_text(struct profile *profile, const char *file, size_t *length);

#endif
