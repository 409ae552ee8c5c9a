/*
 * root_side.h - the outermost frames of a thread's last whole stack stand in for those of a stack
 * too deep to walk (struct root_side, unwind.h).
 *
 *   each frame of a walk: note -> the walk reached the thread's start: keep
 *                              -> it was cut: join what is kept, where it still stands
 *
 * For unwind.c alone, as frame.h.
 *
 * Signals    SIGNAL_SAFE; bounded by ROOT_SIDE_FRAMES.
 */
#ifndef ISOSCOPE_ROOT_SIDE_H
#define ISOSCOPE_ROOT_SIDE_H

#include "frame.h"

/* Notes the frame among the last ones of this walk. */
SIGNAL_SAFE_INLINE void root_side_note(struct root_side *side, uint32_t depth,
                                       const struct frame *frame, uint64_t encoded)
{
    side->noted[!side->current][depth % ROOT_SIDE_FRAMES] =
        (struct root_side_frame){ frame->sp, frame->pc_at, frame->pc, encoded };
}

/* The walk reached the thread's start: what it noted is the root side from now on. */
SIGNAL_SAFE_INLINE void root_side_keep(struct root_side *side, uint32_t depth)
{
    side->current = !side->current;
    side->depth[side->current] = depth;
}

/* How many of the outermost frames kept still lie on the stack, beyond where the walk stopped. */
SIGNAL_SAFE_INLINE uint32_t root_side_standing(const struct root_side *side,
                                               const struct frame *frame)
{
    uint32_t depth = side->depth[side->current], standing = 0;

    while (standing < ROOT_SIDE_FRAMES && standing < depth) {
        const struct root_side_frame *kept =
            &side->noted[side->current][(depth - 1 - standing) % ROOT_SIDE_FRAMES];
        uint64_t pc;

        if (kept->sp <= frame->sp || !kept->pc_at || !frame_load(frame, kept->pc_at, &pc) ||
            pc != kept->pc)
            break;
        standing++;
    }
    return standing;
}

/* A stack too deep: its leaf side stays, then a mark, then the root side as it was last seen whole.
 */
SIGNAL_SAFE_INLINE void root_side_join(const struct root_side *side, const struct frame *frame,
                                       uint64_t *frames, uint32_t frames_max)
{
    uint32_t depth = side->depth[side->current];
    uint32_t count = root_side_standing(side, frame);

    if (count > frames_max / 4)
        count = frames_max / 4;
    if (!count)
        return;
    frames[frames_max - count - 1] = FEED_FRAME_GAP;
    for (uint32_t i = 0; i < count; i++)
        frames[frames_max - 1 - i] =
            side->noted[side->current][(depth - 1 - i) % ROOT_SIDE_FRAMES].encoded;
}

#endif
