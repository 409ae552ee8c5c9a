#include "stalls_reader.h"

#include "../stalls/stall_log.h"
#include "format/stall_entry.h"
#include "loops_reader.h"
#include "table_reader.h"

#include <inttypes.h>
#include <stdlib.h>

static int64_t aligned_ns(const struct session_reader *reader, int64_t ns)
{
    int64_t aligned = ns + reader->archive->shift_us * 1000;

    return aligned > 0 ? aligned : 0;
}

static void align(const struct session_reader *reader, struct stall_reading *read)
{
    struct stall *stall = &read->stall;

    stall->start_ns.min = aligned_ns(reader, stall->start_ns.min);
    stall->start_ns.max = aligned_ns(reader, stall->start_ns.max);
    for (uint32_t i = 0; i < stall->run_count; i++) {
        read->runs[i].from_ns = aligned_ns(reader, read->runs[i].from_ns);
        read->runs[i].to_ns = aligned_ns(reader, read->runs[i].to_ns);
    }
    for (uint32_t i = 0; i < stall->stack_count; i++)
        read->stacks[i].at_ns = aligned_ns(reader, read->stacks[i].at_ns);
}

/* Those of a later file are numbered behind those of the ones before it. */
static void renumber(struct session_reader *reader, struct stall *stall)
{
    if (!reader->stalls_met) {
        reader->first_stall = stall_log_last(reader->profile->stalls);
        reader->stalls_met = true;
    }
    stall->number += reader->first_stall;
    stall->loop = loops_reader_number(reader, stall->loop);
}

static void add(struct session_reader *reader, struct entry *entry, struct stall_reading *read)
{
    struct kept_stall *kept;

    int64_t end_us;

    align(reader, read);
    renumber(reader, &read->stall);
    end_us = (read->stall.start_ns.max + read->stall.duration_ns.max) / 1000;
    reader->end_us = end_us > reader->end_us ? end_us : reader->end_us;
    kept = kept_stall_new(&read->stall);
    if (!kept || stall_log_restore(reader->profile->stalls, kept) < 0)
        entry_fail(entry, "out of memory");
}

void stalls_reader_stall(struct session_reader *reader, struct entry *entry)
{
    struct stall_reading *read = malloc(sizeof(*read));
    uint64_t process;

    if (!read) {
        entry_fail(entry, "out of memory");
        return;
    }
    stall_entry_read(entry, read);
    if (!entry->bad) {
        process = read->stall.process_id;
        read->stall.process_id = table_reader_process(reader, process);
        if (!read->stall.process_id)
            entry_fail(entry, "process %" PRIu64 " is not there", process);
    }
    if (!entry->bad)
        add(reader, entry, read);
    free(read);
}
