#include "unwinders.h"

#include "sampler/capture/modules/modules.h"
#include "tests/unit/own_tables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#define SYMBOL_TEXT(name) #name
#define SYMBOL(name)      SYMBOL_TEXT(name)

static struct feed_writer writer;
static struct modules modules;

static struct {
    int (*init)(unw_cursor_t *, unw_context_t *, int);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, int, unw_word_t *);
} libunwind_has;

static bool open_libunwind(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
    *(void **)&libunwind_has.init = dlsym(library, SYMBOL(unw_init_local2));
    *(void **)&libunwind_has.step = dlsym(library, SYMBOL(unw_step));
    *(void **)&libunwind_has.get = dlsym(library, SYMBOL(unw_get_reg));
    return libunwind_has.init && libunwind_has.step && libunwind_has.get;
}

bool unwinders_open(bool libunwind)
{
    int memfd;

    if (libunwind && !open_libunwind()) {
        fprintf(stderr, "unwinders: no libunwind.so.8 that has what is wanted\n");
        return false;
    }
    if (feed_writer_create(&writer, &memfd, getpid(), 1)) {
        fprintf(stderr, "unwinders: no memory\n");
        return false;
    }
    close(memfd);
    modules_new(&modules);
    unwinders_learn();
    return true;
}

void unwinders_learn(void)
{
    modules_refresh(&modules, &writer);
    own_tables(&modules, &writer);
}

void walk_by_tables(const ucontext_t *context, const struct stack_range *stack,
                    struct outer_frames *outer_frames, struct walk *out)
{
    uint32_t group;
    struct unwind_request request = { .map = code_map_enter(&modules.maps, &group),
                                      .stack = stack,
                                      .outer_frames = outer_frames,
                                      .context = context,
                                      .frames_max = WALK_DEPTH_MAX };
    struct unwind_result result;

    unwind(&request, out->pcs, &result);
    code_map_leave(&modules.maps, group);
    out->depth = result.depth;
    out->end = result.end;
    out->root = result.end == FEED_END_ROOT;
    out->unknown_code = result.unknown_code;
}

static uint64_t runtime_pc(const struct code_map *map, uint64_t frame)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (map->ranges[i].number == FEED_FRAME_MODULE(frame))
            return FEED_FRAME_OFFSET(frame) + map->ranges[i].bias;
    return FEED_FRAME_OFFSET(frame);
}

void walk_resolve(struct walk *walk)
{
    const struct code_map *map = atomic_load(&modules.maps.current);

    for (uint32_t i = 0; i < walk->depth; i++)
        walk->pcs[i] = runtime_pc(map, walk->pcs[i]);
}

void walk_by_libunwind(const ucontext_t *context, struct walk *out)
{
    unw_cursor_t cursor;
    unw_word_t pc;
    int more = libunwind_has.init(&cursor, (unw_context_t *)context, UNW_INIT_SIGNAL_FRAME);

    out->depth = 0;
    if (more == 0)
        more = 1;
    while (more > 0 && out->depth < WALK_DEPTH_MAX) {
        libunwind_has.get(&cursor, UNW_REG_IP, &pc);
        out->pcs[out->depth++] = pc;
        more = libunwind_has.step(&cursor);
    }
    out->root = more == 0;
}

/* The tables' frames hold the return address minus one, but for the leaf and what another signal
 * interrupted. */
bool walks_equal(const struct walk *tables, const struct walk *libunwind)
{
    if (tables->depth != libunwind->depth || tables->pcs[0] != libunwind->pcs[0])
        return false;
    for (uint32_t i = 1; i < tables->depth; i++)
        if (tables->pcs[i] + 1 != libunwind->pcs[i] && tables->pcs[i] != libunwind->pcs[i])
            return false;
    return true;
}

void unwinders_name(uint64_t pc, char *out, size_t bytes)
{
    uint64_t file_pc = pc;
    const char *path = "?";
    const struct code_map *map = atomic_load(&modules.maps.current);
    const struct code_range *range = code_map_find(map, pc);

    if (range) {
        path = modules.files[range->number].path;
        path = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        file_pc -= range->bias;
    }
    snprintf(out, bytes, "%s+0x%lx", path, (unsigned long)file_pc);
}
