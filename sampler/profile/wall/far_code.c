#include "far_code.h"

#include "../../capture/system/memory.h"
#include "../../capture/unwind/named_code.h"

#include <stddef.h>

enum { STEPS_MAX = 256 };

/* A range, and its links as far as they are looked at. */
struct far_range {
    uint64_t start, end;
    uint32_t height;
    const char *name; /* in the program */
    uint64_t next[NAMED_CODE_HEIGHT];
};

/* Links behind a range of that height: not more may be there. */
static bool read_range(const struct far_code *code, uint64_t at, struct far_range *out)
{
    struct named_range head;

    if (!memory_read(code->pid, &head, at, sizeof(head)))
        return false;
    out->start = head.start;
    out->end = head.end;
    out->height = head.height;
    out->name = head.name;
    return head.height && head.height <= NAMED_CODE_HEIGHT &&
           memory_read(code->pid, out->next, at + offsetof(struct named_range, next),
                       head.height * sizeof(out->next[0]));
}

/* As named_code_find; levels: the list's own first links. */
static bool find_range(const struct far_code *code, uint64_t pc, const uint64_t *levels,
                       struct far_range *found)
{
    const uint64_t *links = levels;
    struct far_range range;
    uint64_t tried = 0;
    bool any = false;
    int steps = 0;

    for (uint32_t level = NAMED_CODE_HEIGHT; level-- > 0;)
        while (links[level] && links[level] != tried) {
            if (steps++ == STEPS_MAX || !read_range(code, links[level], &range))
                return false;
            if (range.start > pc || range.height <= level) {
                tried = links[level]; /* so it is on the level below */
                break;
            }
            *found = range;
            links = found->next;
            any = true;
        }
    return any && pc < found->end;
}

bool far_code_name(void *context, uint64_t pc, uint64_t *frame)
{
    const struct far_code *code = context;
    uint64_t levels[NAMED_CODE_HEIGHT];
    char name[FEED_NAME_MAX + 1];
    struct far_range range;
    long got;

    if (!code->list ||
        !memory_read(code->pid, levels, code->list + offsetof(struct named_code, first),
                     sizeof(levels)) ||
        !find_range(code, pc, levels, &range))
        return false;
    got = memory_read_some(code->pid, name, (uint64_t)range.name, FEED_NAME_MAX);
    name[got > 0 ? got : 0] = 0;
    *frame = FEED_FRAME_NAMED(FEED_NAME_JIT, feed_writer_name(code->writer, name));
    return true;
}
