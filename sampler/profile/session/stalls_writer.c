#include "stalls_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../stalls.h"
#include "format/stall_entry.h"

enum { AT_ONCE = 64, JSON_BYTES_MAX = 1 << 20 };

/* One whose stacks make it larger than a reader takes is told without them. What is too large then is left
 * out: no program has such names. */
static int put_stall(struct table_writer *tables, const struct stall *stall, struct bytes *out)
{
    for (int stacks = 1; stacks >= 0; stacks--) {
        bytes_clear(&tables->content);
        entry_dump(stall_entry_write(stall, stacks), &tables->content);
        if (tables->content.count <= JSON_BYTES_MAX)
            return packer_block(tables->packer, out, "STLS", BLOCK_FRAME_OWN, &tables->content);
    }
    return 0;
}

/* Its process is still listed, so it is in the file, too. */
static bool belongs(struct table_writer *tables, const struct stall *stall, bool ongoing)
{
    struct process_info info;

    return stall->ongoing == ongoing && profile_process(tables->profile, stall->process_id, &info);
}

static int put_stalls(struct table_writer *tables, const struct stalls *stalls, bool ongoing,
                      struct bytes *out)
{
    size_t before = out->count;
    int error = table_writer_before_samples(tables, out);

    for (size_t i = 0; i < stalls_count(stalls) && !error; i++)
        if (belongs(tables, stalls_at(stalls, i), ongoing))
            error = put_stall(tables, stalls_at(stalls, i), out);
    if (error)
        out->count = before;
    return error;
}

int stalls_writer_put(struct stalls_writer *writer, struct table_writer *tables, struct bytes *out)
{
    const struct stalls_window window = { .since = writer->change, .count_max = AT_ONCE };
    struct stalls *stalls;
    size_t count;
    int error = stalls_take(&stalls, tables->profile, &window);

    if (error)
        return error;
    count = stalls_count(stalls);
    error = count ? put_stalls(tables, stalls, false, out) : 0;
    /* What was written is in the file, or lost to it: one way or the other it is passed. */
    writer->change = stalls_change(stalls);
    stalls_free(stalls);
    return error ? error : count == AT_ONCE;
}

int stalls_writer_ongoing(struct table_writer *tables, struct bytes *out)
{
    struct stalls *stalls;
    int error = stalls_take(&stalls, tables->profile, &(struct stalls_window){ 0 });

    if (error)
        return error;
    error = put_stalls(tables, stalls, true, out);
    stalls_free(stalls);
    return error;
}
