/*
 * loop_entry.h - what is counted of a loop, and what is asked of all, as objects of a block LOOP, both ways.
 *
 *   stalls.h -> loop_entry_write -> LOOP -> loop_entry_read -> loops/kept_loops.h
 *
 * Ownership  What is read points into the object.
 * Errors     As entry.h.
 */
#ifndef ISOSCOPE_LOOP_ENTRY_H
#define ISOSCOPE_LOOP_ENTRY_H

#include "../../stalls.h"
#include "entry.h"

json_t *loop_entry_write(const struct loop_info *loop);
/* process_id and number are the file's. */
void loop_entry_read(struct entry *entry, struct loop_info *out);

json_t *loop_settings_write(const struct stall_settings *settings);
void loop_settings_read(struct entry *entry, struct stall_settings *out);

json_t *unwatched_entry_write(const struct unwatched_thread *thread);
void unwatched_entry_read(struct entry *entry, struct unwatched_thread *out);

json_t *cpu_high_entry_write(const struct cpu_high *high);
void cpu_high_entry_read(struct entry *entry, struct cpu_high *out);

#endif
