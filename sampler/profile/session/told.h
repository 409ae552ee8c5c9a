/*
 * told.h - what a session file has been told: so that each thing is told once, and again when it
 * has changed.
 *
 * Ownership  The user's struct: all zeros is nothing, told_free ends it.
 * Errors     Without memory a thing is told once more than needed, or (threads) not at all.
 */
#ifndef ISOSCOPE_SESSION_TOLD_H
#define ISOSCOPE_SESSION_TOLD_H

#include "../base/map64.h"
#include "../store/owner.h"
#include "format/bytes.h"

enum told_frame { TOLD_FRAME_NEW, TOLD_FRAME_WAITS, TOLD_FRAME_DONE };

struct told {
    struct map64 texts;   /* a thing's key -> what its text comes to */
    struct map64 threads; /* owner_thread's serial -> number in the file */
    struct map64 frames;  /* FRAME_KEY -> told_frame */
    uint64_t *waiting;    /* frames of which the source is not known yet */
    uint32_t waiting_count, waiting_capacity;
    uint64_t *numbers; /* a bit for each of a number's: names */
    uint32_t number_words;
    uint32_t thread_count;
};

/* Kinds of things that are known by a text; id: below 2^56. *_COUNTS: with what is counted. */
enum told_kind {
    TOLD_PROCESS,
    TOLD_PROCESS_COUNTS,
    TOLD_MODULE,
    TOLD_THREAD,
    TOLD_SETTINGS,
    TOLD_SETTINGS_COUNTS,
    TOLD_STATE,
    TOLD_SOURCE,
    TOLD_LOOP,
    TOLD_LOOP_SETTINGS,
    TOLD_UNWATCHED
};

/* True: the text is not what the thing's was. */
bool told_changes(struct told *told, enum told_kind kind, uint64_t id, const void *text,
                  size_t count);
/* The thread's number; 0: no memory. */
uint32_t told_thread(struct told *told, const struct owner_thread *thread);
/* True: it is the first time. */
bool told_number(struct told *told, uint32_t number);
/* The frame is in the file: it waits to be told of, unless it did or does. */
void told_frame(struct told *told, uint64_t frame);
/* It waits no longer: it is known, or nothing will be. */
void told_frame_done(struct told *told, uint64_t frame);
void told_free(struct told *told);

#endif
