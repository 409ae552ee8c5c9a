/*
 * php.h - PHP's frames in the places of its executor's: PHP 8.2, without thread safety (NTS).
 *
 *   php_finder.c -> words -> php_frames (php_code.h: names)
 *
 * execute_ex runs all calls from PHP to PHP that it meets. A native frame of it stands for the frames of PHP
 * up to the one that has the flag TOP: with that it was entered. Functions of extensions are there twice: as
 * PHP knows them ("array_map", file "[internal function]"), and, called by those, as the native
 * frames that they are.
 *
 * Position   The line of the opcode that runs or calls.
 *
 * Signals    SIGNAL_SAFE. Frames may be in the middle of being pushed, and functions be gone: what is read is
 *            checked by its types.
 * Source     php-src's Zend/zend_globals.h, zend_compile.h, zend_types.h, zend_execute.c
 */
#ifndef ISOSCOPE_PHP_H
#define ISOSCOPE_PHP_H

#include "../runtime_scan.h"

/* Words of the entry. */
enum php_word {
    PHP_CURRENT, /* address in the process of executor_globals.current_execute_data */
    /* Offsets. */
    PHP_FRAME_FUNCTION,
    PHP_FRAME_FLAGS,     /* uint32_t */
    PHP_FRAME_ARGUMENTS, /* how many: uint32_t */
    PHP_FRAME_PREVIOUS,
    PHP_FUNCTION_NAME,
    PHP_FUNCTION_SCOPE,
    PHP_FUNCTION_OPCODES, /* of one that is written in PHP */
    PHP_FUNCTION_OPCODE_COUNT,
    PHP_FUNCTION_FILE,
    PHP_FUNCTION_FIRST_LINE,
    PHP_OPCODE_BYTES,
    PHP_OPCODE_LINE,
    PHP_CLASS_NAME,
    PHP_WORDS
};
static_assert((int)PHP_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* In feed_runtime_range.what. */
enum php_range {
    PHP_EXECUTES, /* execute_ex */
    PHP_ENTERS,   /* what makes a frame, and calls execute_ex for it */
};

/* In runtime_cursor.words. */
enum php_cursor { PHP_AT_FRAME };

SIGNAL_SAFE uint32_t php_frames(struct runtime_scan *scan, uint32_t entry,
                                const struct runtime_native *native);

#endif
