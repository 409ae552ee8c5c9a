#include "perl_code.h"

#include <string.h>

enum {
    NAME_HEAD = 8, /* of a name (HEK): hash, length */
    PIECE = 64,    /* of a C string that is read at a time */
    FILE_KEY_WORDS = 6,
};

static const char program_name[] = "(main program)", require_name[] = "require",
                  eval_name[] = "eval", evaluated_file[] = "(eval)";

static SIGNAL_SAFE bool word_at(struct runtime_scan *scan, uint64_t address, uint64_t offset,
                                uint64_t *out)
{
    return guarded_word(&scan->memory, address + offset, out);
}

/* Returns its bytes, room at most; a piece reaches into no page that the text does not. */
static SIGNAL_SAFE uint32_t put_c_string(struct runtime_scan *scan, uint64_t text, char *out,
                                         uint32_t room)
{
    uint32_t bytes = 0;

    while (bytes < room) {
        uint32_t piece = PIECE - (uint32_t)((text + bytes) % PIECE);

        if (piece > room - bytes)
            piece = room - bytes;
        if (!guarded_read(&scan->memory, &out[bytes], text + bytes, piece))
            return bytes;
        for (uint32_t i = 0; i < piece; i++)
            if (!out[bytes + i])
                return bytes + i;
        bytes += piece;
    }
    return bytes;
}

/* Each text that is evaluated has a number in Perl, and so would each be a file of its own: "(eval 12)". */
static SIGNAL_SAFE uint32_t put_file(struct runtime_scan *scan, uint64_t file)
{
    char *out = scan->texts->file;
    uint32_t bytes = put_c_string(scan, file, out, FEED_CODE_FILE_MAX);

    if (bytes < sizeof evaluated_file ||
        memcmp(out, evaluated_file, sizeof evaluated_file - 2) != 0)
        return bytes;
    memcpy(out, evaluated_file, sizeof evaluated_file - 1);
    return sizeof evaluated_file - 1;
}

/* A HEK. */
static SIGNAL_SAFE uint32_t put_name(struct runtime_scan *scan, uint64_t name, char *out,
                                     uint32_t room)
{
    int32_t head[2];
    uint32_t bytes;

    if (!guarded_read(&scan->memory, head, name, sizeof head) || head[1] < 0)
        return 0;
    bytes = (uint32_t)head[1] < room ? (uint32_t)head[1] : room;
    return guarded_read(&scan->memory, out, name + NAME_HEAD, bytes) ? bytes : 0;
}

static SIGNAL_SAFE uint32_t put_stash_name(struct runtime_scan *scan, const uint64_t *words,
                                           uint64_t stash, char *out, uint32_t room)
{
    uint64_t body, name;
    int32_t names;

    return guarded_word(&scan->memory, stash, &body) &&
                   word_at(scan, body, words[PERL_STASH_NAME], &name) &&
                   guarded_read(&scan->memory, &names, body + words[PERL_STASH_NAMES],
                                sizeof names) &&
                   (!names || guarded_word(&scan->memory, name, &name))
               ? put_name(scan, name, out, room)
               : 0;
}

/* Where a sub's name and stash are. */
struct sub {
    uint64_t body, root, file, name, stash;
};

static SIGNAL_SAFE bool read_sub(struct runtime_scan *scan, const uint64_t *words, uint64_t code,
                                 struct sub *out)
{
    uint64_t glob;
    uint32_t flags;

    if (!guarded_word(&scan->memory, code, &out->body) ||
        !guarded_read(&scan->memory, &flags, out->body + words[PERL_CODE_FLAGS], sizeof flags) ||
        !word_at(scan, out->body, words[PERL_CODE_NAME], &glob) ||
        !word_at(scan, out->body, words[PERL_CODE_ROOT], &out->root) ||
        !word_at(scan, out->body, words[PERL_CODE_FILE], &out->file))
        return false;
    if (flags & words[PERL_CODE_NAMED]) {
        out->name = glob;
        return word_at(scan, out->body, words[PERL_CODE_STASH], &out->stash);
    }
    return guarded_word(&scan->memory, glob, &glob) &&
           word_at(scan, glob, words[PERL_GLOB_NAME], &out->name) &&
           word_at(scan, glob, words[PERL_GLOB_STASH], &out->stash);
}

static SIGNAL_SAFE uint32_t line_of(struct runtime_scan *scan, const uint64_t *words,
                                    uint64_t statement)
{
    uint32_t line;

    return guarded_read(&scan->memory, &line, statement + words[PERL_STATEMENT_LINE],
                        sizeof line) &&
                   line
               ? line
               : FEED_NO_POSITION;
}

/* Its file is there, and its name has so many bytes. */
static SIGNAL_SAFE void put_known(struct runtime_scan *scan, uint64_t key, uint32_t line,
                                  uint32_t name_bytes, uint32_t file_bytes)
{
    struct feed_code_text text = { .runtime = FEED_RUNTIME_PERL,
                                   .lines = FEED_LINES_DIRECT,
                                   .name = scan->texts->name,
                                   .file = scan->texts->file,
                                   .name_bytes = name_bytes,
                                   .file_bytes = file_bytes };
    uint32_t id = feed_writer_code(scan->writer, &text);

    if (scan->cache)
        code_cache_put(scan->cache, key, id);
    runtime_put(scan, id, line);
}

/* True: it was met before, and is put. */
static SIGNAL_SAFE bool put_cached(struct runtime_scan *scan, uint64_t key, uint32_t line)
{
    uint32_t id = scan->cache ? code_cache_find(scan->cache, key) : 0;

    if (id)
        runtime_put(scan, id, line);
    return id;
}

void perl_put_sub(struct runtime_scan *scan, uint32_t entry, uint64_t code, uint64_t statement)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint32_t line = line_of(scan, words, statement);
    uint64_t key = code_key_begin(entry), name_key[2];
    char *name = scan->texts->name;
    uint32_t bytes;
    struct sub sub;

    /* A name's hash and length, and its first bytes. */
    if (!read_sub(scan, words, code, &sub) ||
        !guarded_read(&scan->memory, name_key, sub.name, sizeof name_key))
        return;
    key = code_key_add(key, sub.root);
    key = code_key_add(key, sub.file);
    key = code_key_add(key, sub.stash);
    key = code_key_add(key, name_key[0]);
    key = code_key_add(key, name_key[1]);
    if (put_cached(scan, key, line))
        return;
    bytes = put_stash_name(scan, words, sub.stash, name, FEED_CODE_NAME_MAX / 2);
    if (bytes) {
        name[bytes++] = ':';
        name[bytes++] = ':';
    }
    bytes += put_name(scan, sub.name, &name[bytes], FEED_CODE_NAME_MAX - bytes);
    put_known(scan, key, line, bytes, put_file(scan, sub.file));
}

void perl_put_eval(struct runtime_scan *scan, uint32_t entry, bool required, uint64_t code,
                   uint64_t statement)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint32_t line = line_of(scan, words, statement),
                   bytes = required ? sizeof require_name - 1 : sizeof eval_name - 1;
    uint64_t key = code_key_begin(entry), file, beginning[FILE_KEY_WORDS] = { 0 };
    uint32_t file_bytes;

    if (!word_at(scan, statement, words[PERL_STATEMENT_FILE], &file))
        return;
    file_bytes = put_file(scan, file);
    memcpy(beginning, scan->texts->file,
           file_bytes < sizeof beginning ? file_bytes : sizeof beginning);
    key = code_key_add(key, code);
    key = code_key_add(key, required);
    key = code_key_add(key, file_bytes);
    for (uint32_t i = 0; i < FILE_KEY_WORDS; i++)
        key = code_key_add(key, beginning[i]);
    if (put_cached(scan, key, line))
        return;
    memcpy(scan->texts->name, required ? require_name : eval_name, bytes);
    put_known(scan, key, line, bytes, file_bytes);
}

void perl_put_program(struct runtime_scan *scan, uint32_t entry, uint64_t interpreter,
                      uint64_t statement)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint32_t line = line_of(scan, words, statement);
    uint64_t key = code_key_begin(entry), file;

    if (!word_at(scan, interpreter, words[PERL_PROGRAM], &file))
        return;
    key = code_key_add(key, file);
    if (put_cached(scan, key, line))
        return;
    memcpy(scan->texts->name, program_name, sizeof program_name - 1);
    put_known(scan, key, line, sizeof program_name - 1, put_file(scan, file));
}
