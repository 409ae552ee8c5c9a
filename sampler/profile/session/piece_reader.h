/*
 * piece_reader.h - pieces of samples into chunks of a store, whose samples stay in the file.
 *
 * Errors     piece_reader_piece fails its entry; the others: as session_file.h.
 */
#ifndef ISOSCOPE_SESSION_PIECE_READER_H
#define ISOSCOPE_SESSION_PIECE_READER_H

#include "session_reader.h"

/* PIEC, KPIE: what the next block has. */
void piece_reader_piece(struct session_reader *reader, struct entry *entry);
void piece_reader_piece_of_kind(struct session_reader *reader, struct entry *entry);
/* The type of block that told of the piece. */
const char *piece_reader_block(const struct piece *piece);
/* SMPL, KSMP: where they are. */
int piece_reader_samples(struct session_reader *reader, const struct block_place *place);
/* There are no more. */
int piece_reader_end(struct session_reader *reader);
void piece_reader_forget(struct session_reader *reader);

#endif
