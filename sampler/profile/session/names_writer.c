#include "names_writer.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>

/* Frames that the worker has not been asked for; known ones are listed. False: no memory. */
static bool look_at_frames(struct table_writer *writer, uint64_t *missing, uint32_t *missing_count)
{
    struct chain_frame chain[INLINE_CHAIN_MAX];
    struct told *told = &writer->told;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < told->waiting_count; i++) {
        uint64_t frame = told->waiting[i];
        bool asked, full = writer->chains.count == CHAINS_AT_ONCE;
        uint32_t count = full ? 0 : known_chain(&writer->profile->known, frame, chain, &asked);

        if (!count) {
            told->waiting[kept++] = frame;
            if (!full && !asked)
                missing[(*missing_count)++] = frame;
            continue;
        }
        told_frame_done(told, frame);
        if ((chain[0].function || count > 1) &&
            !chain_list_put(&writer->chains, frame, chain, count))
            return false;
    }
    told->waiting_count = kept;
    return true;
}

/* True: look again, all are known now. */
static int find_frames(struct table_writer *writer, bool *again)
{
    uint32_t missing_count = 0;
    uint64_t *missing = calloc((size_t)writer->told.waiting_count + 1, sizeof(*missing));
    int result =
        missing && look_at_frames(writer, missing, &missing_count) ? 0 : -ISOSCOPE_NO_MEMORY;

    if (!result && missing_count)
        result = symbolizer_want_frames(writer->profile->symbolizer, missing, missing_count);
    free(missing);
    *again = result > 0;
    return result < 0 ? result : 0;
}

static int put_functions(struct table_writer *writer, struct bytes *out)
{
    json_t *object;
    bool failed;
    int error = 0;

    do {
        object = function_entry_write(writer->profile->functions, &writer->functions, &failed);
        if (failed)
            error = -ISOSCOPE_NO_MEMORY;
        else if (object)
            error = table_writer_put(writer, "FUNC", object, out);
    } while (!error && object && writer->functions.number);
    return error;
}

static int put_chains(struct table_writer *writer, struct bytes *out)
{
    int error;

    if (!writer->chains.count)
        return 0;
    bytes_clear(&writer->content);
    chain_list_sort(&writer->chains);
    chain_columns_write(&writer->chains, 0, writer->chains.count, writer->profile->functions,
                        &writer->chain_state, &writer->columns, &writer->content);
    error = packer_block(writer->packer, out, "CHNS", BLOCK_FRAME_TABLES, &writer->content);
    chain_list_clear(&writer->chains);
    return error;
}

/* What the file has been told need not stay. Not at the bound, at which windows settle: one that
 * somebody is waiting for would never come together. */
static void settle(struct inline_chains *chains)
{
    if (inline_chains_bytes(chains) > 2 * (size_t)INLINE_CHAINS_BYTES_DEFAULT)
        inline_chains_settle(chains);
}

int names_writer_put(struct table_writer *writer, struct bytes *out, uint32_t *waits)
{
    bool again, full;
    int error;

    do {
        error = find_frames(writer, &again);
        full = writer->chains.count == CHAINS_AT_ONCE;
        if (!error)
            error = put_functions(writer, out);
        if (!error)
            error = put_chains(writer, out);
        if (!error)
            error = table_writer_modules(writer, out);
    } while (!error && (again || full));
    *waits = writer->told.waiting_count;
    settle(writer->profile->chains);
    return error;
}
