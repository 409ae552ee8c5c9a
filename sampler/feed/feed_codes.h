/*
 * feed_codes.h - the functions that runtimes run: names, files and line tables, each told once.
 *
 *   capture/runtimes (a code that is new) -> feed_writer_code -> id, in FEED_FRAME_CODE
 *   profile/intake (an id that is new) -> feed_reader_code -> naming/codes.h
 *
 * By content: the same function made again, by an eval or in a new code object, is the same code. So
 * what a program makes over and over takes no more room.
 *
 * Ownership  The writer copies. What the reader gives out lies in a buffer of the caller.
 * Threads    feed_writer_code: any, at the same time, without locks. feed_reader_code: as
 *            feed_reader.h.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_FEED_CODES_H
#define ISOSCOPE_FEED_CODES_H

#include "feed_reader.h"
#include "feed_writer.h"

/* What is told of a function. Texts are bytes with no end, UTF-8 where the runtime has it so. */
struct feed_code_text {
    enum feed_runtime_kind runtime;
    enum feed_code_lines lines;
    const char *name; /* in full, as people of that language write it: "Shape.area", "Shape#area" */
    const char *file; /* an absolute path, or the runtime's word for none: "<string>" */
    const uint8_t *table; /* of lines */
    uint32_t name_bytes, file_bytes, table_bytes;
    uint32_t first_line; /* of its definition; 0: not known */
};

/* Finds it, or adds it. Of texts that are too long the beginnings are kept, of a table nothing. 0: no
 * room, which is counted. */
SIGNAL_SAFE uint32_t feed_writer_code(struct feed_writer *writer,
                                      const struct feed_code_text *text);

enum {
    FEED_CODE_BYTES_MAX = sizeof(struct feed_code) + FEED_CODE_NAME_MAX + FEED_CODE_FILE_MAX +
                          FEED_CODE_TABLE_MAX + FEED_CODE_ALIGN
};

/* Nothing of it was changed since it was written. bytes: what follows the head. */
bool feed_code_is_whole(const struct feed_code *head, const char *bytes);

/* buffer: FEED_CODE_BYTES_MAX; what out points to lies in it. False: there is no such code, or nonsense. */
bool feed_reader_code(struct feed_reader *reader, uint32_t id, uint8_t *buffer,
                      struct feed_code_text *out);

/* The service tells of a runtime in this process. False: there is no entry left for one. Once
 * told it stays. */
bool feed_reader_runtime(struct feed_reader *reader, const struct feed_runtime *runtime);
/* What is wanted: FEED_WANT_*. */
void feed_reader_wants(struct feed_reader *reader, uint32_t wants);

#endif
