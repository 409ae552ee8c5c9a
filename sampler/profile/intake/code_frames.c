#include "code_frames.h"

#include "../../feed/feed_codes.h"
#include "../base/grow.h"
#include "../store/frame.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORD_OF(name, word) word,
static const char *const runtime_words[] = { FEED_RUNTIMES(WORD_OF) };
#undef WORD_OF

void code_frames_free(struct code_frames *known)
{
    map64_free(&known->by_id);
    free(known->frames);
    free(known->buffer);
    v8_lines_free(&known->v8);
    *known = (struct code_frames){ 0 };
}

/* A text of the feed with an end; a 0 inside would be one. */
static void copy_text(char *out, size_t room, const char *text, uint32_t bytes)
{
    size_t count = bytes < room ? bytes : room - 1;

    for (size_t i = 0; i < count; i++)
        out[i] = text[i];
    for (size_t i = 0; i < count; i++)
        if (!out[i])
            out[i] = '?';
    out[count] = 0;
}

/* path: in and out. It stays where the process has no such file in the folder that it works in. */
static void find_file(char path[PATH_MAX], int32_t pid)
{
    char link[32], folder[PATH_MAX], whole[2 * PATH_MAX];
    const char *relative = strncmp(path, "./", 2) ? path : path + 2;
    ssize_t bytes;

    if (*path == '/' || !*path || pid <= 0)
        return;
    snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
    bytes = readlink(link, folder, sizeof(folder) - 1);
    if (bytes <= 0 || *folder != '/')
        return;
    folder[bytes] = 0;
    snprintf(whole, sizeof(whole), "%s/%s", link, relative);
    if (access(whole, F_OK) < 0)
        return;
    bytes = snprintf(whole, sizeof(whole), "%s/%s", folder[1] ? folder : "", relative);
    if (bytes < PATH_MAX)
        memcpy(path, whole, (size_t)bytes + 1);
}

/* Its name is all that is left of it. */
static uint64_t bare_name(const struct feed_code_text *code, struct registry *registry)
{
    char name[FEED_CODE_NAME_MAX + 1];

    copy_text(name, sizeof(name), code->name, code->name_bytes);
    return FRAME_KEY(registry_named(registry, FEED_NAME_INTERPRETED),
                     names_number(registry_names(registry), name));
}

static uint64_t frame_of(struct code_frames *known, struct feed_code_text *code, int32_t pid,
                         struct registry *registry, struct module_set *met)
{
    char path[PATH_MAX];
    uint32_t module, number;

    copy_text(path, sizeof(path), code->file, code->file_bytes);
    find_file(path, pid);
    code->file = path;
    code->file_bytes = (uint32_t)strlen(path);
    v8_lines_convert(&known->v8, pid, code, registry, met);
    number = codes_number(registry_codes(registry), code);
    if (!*path)
        snprintf(path, sizeof(path), "[%s]", runtime_words[code->runtime]);
    module = number ? registry_script(registry, code->runtime, path) : 0;
    if (!module)
        return bare_name(code, registry);
    module_set_add(met, module);
    return FRAME_KEY(module, CODE_OFFSET(number, 0));
}

/* NULL: it means nothing, or there is no memory. */
static const uint64_t *learn(struct code_frames *known, struct feed_reader *reader, int32_t pid,
                             uint32_t id, struct registry *registry, struct module_set *met)
{
    struct feed_code_text code;
    uint32_t *place;
    bool added;

    if (!known->buffer)
        known->buffer = malloc(FEED_CODE_BYTES_MAX);
    if (!known->buffer || !feed_reader_code(reader, id, known->buffer, &code) ||
        !GROW(known->frames, known->count, known->capacity) ||
        !(place = map64_put(&known->by_id, id, &added)))
        return NULL;
    known->frames[known->count] = frame_of(known, &code, pid, registry, met);
    *place = ++known->count;
    return &known->frames[*place - 1];
}

uint64_t code_frame(struct code_frames *known, struct feed_reader *reader, int32_t pid,
                    uint64_t feed_frame, struct registry *registry, struct module_set *met)
{
    uint32_t id = FEED_FRAME_CODE_ID(feed_frame), place = map64_find(&known->by_id, id);
    const uint64_t *frame =
        place ? &known->frames[place - 1] : learn(known, reader, pid, id, registry, met);

    if (!frame)
        return FRAME_KEY(0, FEED_FRAME_OFFSET(feed_frame));
    if (!registry_module(registry, FRAME_KEY_MODULE(*frame))->script)
        return *frame;
    return *frame | FEED_FRAME_CODE_POSITION(feed_frame);
}
