/*
 * php_code.h - what a frame of PHP runs, by name and file, as it is told to the feed.
 *
 * Names are those of __METHOD__: "Shape::area", "area", "{closure}"; the code of a file is "{main}", and where
 * another one includes it "include shapes.php"; what eval runs is "eval".
 *
 * Signals    SIGNAL_SAFE.
 * Errors     What is none, or cannot be read, has no frame.
 */
#ifndef ISOSCOPE_PHP_CODE_H
#define ISOSCOPE_PHP_CODE_H

#include "php.h"

enum php_function_type { PHP_INTERNAL = 1, PHP_USER = 2, PHP_EVAL = 4 };

struct php_code {
    uint64_t function;
    uint64_t opcode;       /* as the frame has it */
    uint64_t newer_opcode; /* to be believed where it lies in this function; 0: not known */
    bool outermost;        /* nothing called it */
};

/* Where its code begins. False: it has none. */
SIGNAL_SAFE bool php_opcodes(struct runtime_scan *scan, const uint64_t *words, uint64_t function,
                             uint64_t *out);
/* The type of the function; 0: it is none. */
SIGNAL_SAFE uint8_t php_put_code(struct runtime_scan *scan, uint32_t entry,
                                 const struct php_code *code);

#endif
