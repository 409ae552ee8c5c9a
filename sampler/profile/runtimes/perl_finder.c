#include "finder.h"

#include "../../capture/runtimes/perl/perl.h"
#include "runtime_file.h"

#include <string.h>

enum { VERSION_BYTES = 32, VERSION_536 = 0x05240000 };

static const char version_begins[] = "v5.36.";

/* Perl 5.36 for 64 bits with threads; by its headers. */
static const uint64_t layout_536[PERL_WORDS] = {
    [PERL_STACK_INFO] = 224,    [PERL_STATEMENT] = 208,        [PERL_PROGRAM] = 1472,
    [PERL_STACK_CONTEXTS] = 8,  [PERL_STACK_PREVIOUS] = 16,    [PERL_STACK_NEWEST] = 32,
    [PERL_CONTEXT_BYTES] = 104, [PERL_CONTEXT_CALLER] = 16,    [PERL_CONTEXT_RETURNS_TO] = 48,
    [PERL_CONTEXT_CODE] = 72,   [PERL_CONTEXT_EVAL_CODE] = 88, [PERL_CONTEXT_EVAL_OP] = 2,
    [PERL_OP_REQUIRE] = 342,    [PERL_STATEMENT_LINE] = 36,    [PERL_STATEMENT_FILE] = 48,
    [PERL_CODE_NAME] = 56,      [PERL_CODE_FLAGS] = 92,        [PERL_CODE_NAMED] = 0x8000,
    [PERL_CODE_STASH] = 32,     [PERL_CODE_FILE] = 64,         [PERL_CODE_ROOT] = 48,
    [PERL_GLOB_STASH] = 40,     [PERL_GLOB_NAME] = 32,         [PERL_STASH_NAME] = 32,
    [PERL_STASH_NAMES] = 60,
};

static const char *const catching_ops[] = { "Perl_pp_entertry", "Perl_pp_entereval",
                                            "Perl_pp_require", "Perl_pp_entertrycatch" };

static void put_ranges(const struct runtime_module *module, struct feed_runtime *out,
                       const char *function, enum perl_range what)
{
    const uint32_t room = FEED_RUNTIME_RANGES_MAX - out->range_count;
    struct runtime_piece pieces[FEED_RUNTIME_RANGES_MAX];
    uint32_t count = runtime_file_pieces(module->file, function, pieces, room);

    for (uint32_t i = 0; i < count; i++)
        out->ranges[out->range_count++] =
            (struct feed_runtime_range){ .start = pieces[i].start + module->bias,
                                         .end = pieces[i].end + module->bias,
                                         .what = what };
}

enum runtime_found perl_find(const struct runtime_module *module, struct feed_runtime *out,
                             const char **reason)
{
    char version[VERSION_BYTES];
    uint64_t interpreter, key;

    if (!runtime_file_symbol(module->file, "PL_curinterp", &interpreter, NULL))
        return RUNTIME_NOT_HERE;
    *reason = "its layout is not known to this isoscope (5.36 is)";
    if (!runtime_file_text(module->file, version_begins, version, sizeof version))
        return RUNTIME_UNKNOWN;
    *reason = "it is built without threads";
    if (!runtime_file_symbol(module->file, "PL_thr_key", &key, NULL))
        return RUNTIME_UNKNOWN;
    out->version = VERSION_536;
    memcpy(out->words, layout_536, sizeof layout_536);
    out->words[PERL_INTERPRETER] = interpreter + module->bias;
    out->words[PERL_KEY] = key + module->bias;
    put_ranges(module, out, "Perl_runops_standard", PERL_LOOP);
    *reason = "its run loop's code is not found";
    if (!out->range_count)
        return RUNTIME_UNKNOWN;
    for (size_t i = 0; i < sizeof catching_ops / sizeof catching_ops[0]; i++)
        put_ranges(module, out, catching_ops[i], PERL_CATCH);
    return RUNTIME_FOUND;
}
