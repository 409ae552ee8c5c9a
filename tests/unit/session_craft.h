/*
 * session_craft.h - session files of blocks that a test chooses, and whether they open.
 *
 *     struct craft craft;
 *     craft_begin(&craft); craft_json(&craft, "HEAD", HEAD); ... craft.file ... craft_end(&craft);
 */
#ifndef SESSION_CRAFT_H
#define SESSION_CRAFT_H

#include "session_files.h"
#include "sampler/profile/session/format/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct craft {
    struct packer *packer;
    struct bytes file;
};

static inline void craft_begin(struct craft *craft)
{
    *craft = (struct craft){ 0 };
    assert_int_equal(packer_new(&craft->packer), 0);
    session_head_put(&craft->file);
}

static inline void craft_bytes(struct craft *craft, const char *type, enum block_frame frame,
                               const void *data, size_t count)
{
    const struct bytes content = { (uint8_t *)data, count, count, false };

    assert_int_equal(packer_block(craft->packer, &craft->file, type, frame, &content), 0);
}

static inline void craft_json(struct craft *craft, const char *type, const char *text)
{
    craft_bytes(craft, type, BLOCK_FRAME_TABLES, text, strlen(text));
}

/* Stored as it is: well by its checksums, and packed by nobody. */
static inline void craft_stored(struct craft *craft, const char *type, const char *stored)
{
    struct bytes head = { 0 };

    bytes_put(&head, type, 4);
    bytes_u32(&head, (uint32_t)strlen(stored));
    bytes_u32(&head, 100);
    bytes_u32(&head, block_checksum(stored, strlen(stored)));
    bytes_u32(&head, block_checksum(head.data, head.count));
    bytes_put(&craft->file, head.data, head.count);
    bytes_put(&craft->file, stored, strlen(stored));
    bytes_free(&head);
}

static inline void craft_end(struct craft *craft)
{
    packer_free(craft->packer);
    bytes_free(&craft->file);
}

#define HEAD    "{\"startUs\":1,\"wallStartUs\":1}"
#define PROCESS "{\"processes\":[{\"id\":5,\"pid\":5,\"exe\":\"/x\"}]}"
#define MODULE  "{\"modules\":[{\"number\":1,\"path\":\"/m\",\"buildId\":\"\"}]}"
#define THREAD  "{\"threads\":[[1,5,9,\"t\"]]}"
#define PIECE                                                                                      \
    "{\"begins\":true,\"samples\":1,\"nodes\":1,\"frames\":1,\"cpuUnit\":1,\"sources\":[[1,0]],"   \
    "\"minUs\":7,\"maxUs\":7,\"counts\":[[0,0,0,1]]}"

#define NO_VALUE UINT64_MAX /* the column is empty */

static inline void put_columns(const uint64_t *from, size_t count, struct bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        struct bytes column = { 0 };

        if (from[i] != NO_VALUE)
            bytes_varint(&column, from[i]);
        bytes_varint(out, column.count);
        bytes_put(out, column.data, column.count);
        bytes_free(&column);
    }
}

static inline void assert_block_reason(const char *type, const char *reason,
                                       const struct saved_problem *problem)
{
    char whole[256];

    snprintf(whole, sizeof(whole), "block '%s': %s", type, reason);
    assert_string_equal(problem->reason, whole);
}

/* It opens, and every answer can be given; or it does not, and is told why. */
static inline bool opens(const char *path, const void *data, size_t count,
                         struct saved_problem *problem)
{
    struct profile *saved;

    write_bytes(path, data, count);
    *problem = (struct saved_problem){ 0 };
    saved = open_saved(path, problem);
    if (saved)
        free(tell(saved));
    else
        assert_true(*problem->reason && problem->position <= count);
    profile_free(saved);
    return saved;
}

#endif
