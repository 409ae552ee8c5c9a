/*
 * outer_frames.h - the outermost frames of a thread's last complete stack stand in for those of a
 * stack too deep to walk (struct outer_frames, unwind.h).
 *
 *   each frame of a walk: note -> the walk reached the thread's start: keep
 *                              -> it was truncated: join what is kept, where it still stands
 *
 * For unwind.c alone, as frame.h.
 *
 * Signals    SIGNAL_SAFE; bounded by OUTER_FRAMES_MAX.
 */
#ifndef ISOSCOPE_OUTER_FRAMES_H
#define ISOSCOPE_OUTER_FRAMES_H

#include "frame.h"

/* Notes the frame among the last ones of this walk. */
SIGNAL_SAFE_INLINE void outer_frames_note(struct outer_frames *outer, uint32_t depth,
                                          const struct unwind_frame *frame, uint64_t encoded)
{
    outer->noted[!outer->current][depth % OUTER_FRAMES_MAX] =
        (struct outer_frame){ frame->sp, frame->pc_at, frame->pc, encoded };
}

/* The walk reached the thread's start: what it noted are the outer frames from now on. */
SIGNAL_SAFE_INLINE void outer_frames_keep(struct outer_frames *outer, uint32_t depth)
{
    outer->current = !outer->current;
    outer->depth[outer->current] = depth;
}

/* How many of the outermost frames kept still lie on the stack, beyond where the walk stopped. */
SIGNAL_SAFE_INLINE uint32_t outer_frames_standing(const struct outer_frames *outer,
                                                  const struct unwind_frame *frame)
{
    uint32_t depth = outer->depth[outer->current], standing = 0;

    while (standing < OUTER_FRAMES_MAX && standing < depth) {
        const struct outer_frame *kept =
            &outer->noted[outer->current][(depth - 1 - standing) % OUTER_FRAMES_MAX];
        uint64_t pc;

        if (kept->sp <= frame->sp || !kept->pc_at || !frame_load(frame, kept->pc_at, &pc) ||
            pc != kept->pc)
            break;
        standing++;
    }
    return standing;
}

/* A stack too deep: its leaf side stays, then a mark, then the outer frames of when it was last
 * complete. */
SIGNAL_SAFE_INLINE void outer_frames_join(const struct outer_frames *outer,
                                          const struct unwind_frame *frame, uint64_t *frames,
                                          uint32_t frames_max)
{
    uint32_t depth = outer->depth[outer->current];
    uint32_t count = outer_frames_standing(outer, frame);

    if (count > frames_max / 4)
        count = frames_max / 4;
    if (!count)
        return;
    frames[frames_max - count - 1] = FEED_FRAME_GAP;
    for (uint32_t i = 0; i < count; i++)
        frames[frames_max - 1 - i] =
            outer->noted[outer->current][(depth - 1 - i) % OUTER_FRAMES_MAX].encoded;
}

#endif
