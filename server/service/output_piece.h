/*
 * output_piece.h - a piece of the program's output on its way from isoscope to its service.
 *
 *   capture_output.c (writes) -> socket of packets -> heard_output.c (reads)
 */
#ifndef ISOSCOPE_OUTPUT_PIECE_H
#define ISOSCOPE_OUTPUT_PIECE_H

#include <stdint.h>

enum { OUTPUT_PIECE_BYTES = 8 * 1024 };

struct output_piece {
    uint8_t output; /* enum service_output */
    char bytes[OUTPUT_PIECE_BYTES];
};

#endif
