/*
 * window.h - which stored samples a snapshot shows, in the order of time.
 *
 * Ownership  window_pick allocates the picks; free() them. They refer to the views by index.
 * Errors     0 or -ISOSCOPE_NO_MEMORY (of more than WINDOW_VIEWS_MAX views, too).
 */
#ifndef ISOSCOPE_WINDOW_H
#define ISOSCOPE_WINDOW_H

#include "names.h"
#include "snapshot.h"
#include "store.h"

/* Small: a snapshot keeps one for each sample, as long as a reply takes. */
struct pick {
    uint16_t view;   /* index into the views */
    uint16_t sample; /* index into the view's chunk's samples */
};

enum { WINDOW_VIEWS_MAX = 65536 };

struct span {
    int64_t first_us, last_us; /* both belong to it */
};

struct span window_span(const struct snapshot_window *window);
/* Sources that have none of the window's user tags are not asked for any more. */
void window_choose_sources(struct store_view *views, uint32_t view_count,
                           const struct snapshot_window *window, const struct names *names);
/* end: of the window, in the order in which samples came. */
int window_pick(struct pick **out, uint32_t *count, struct snapshot_mark *end,
                const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *window);

static inline int64_t pick_us(const struct store_view *views, struct pick pick)
{
    return chunk_sample_us(views[pick.view].chunk, pick.sample);
}

#endif
