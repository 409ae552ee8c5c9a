#include "finder.h"

#include "../../capture/runtimes/php/php.h"
#include "runtime_file.h"

#include <string.h>

/* What extensions must be built for: "API20220829,NTS". */
static const char build_begins[] = "API20";

enum { BUILD_BYTES = 64 };

/* PHP 8.2 for 64 bits, not thread-safe; by its headers. */
static const uint64_t layout_82[PHP_WORDS] = {
    [PHP_CURRENT] = 488, /* in executor_globals */
    [PHP_FRAME_FUNCTION] = 24,   [PHP_FRAME_FLAGS] = 40,
    [PHP_FRAME_ARGUMENTS] = 44,  [PHP_FRAME_PREVIOUS] = 48,
    [PHP_FUNCTION_NAME] = 8,     [PHP_FUNCTION_SCOPE] = 16,
    [PHP_FUNCTION_OPCODES] = 88, [PHP_FUNCTION_OPCODE_COUNT] = 80,
    [PHP_FUNCTION_FILE] = 152,   [PHP_FUNCTION_FIRST_LINE] = 160,
    [PHP_OPCODE_BYTES] = 32,     [PHP_OPCODE_LINE] = 24,
    [PHP_CLASS_NAME] = 8,
};

static const struct {
    const char *build;
    uint32_t version; /* as PHP_VERSION_ID */
    const uint64_t *words;
} layouts[] = { { "API20220829,NTS", 80200, layout_82 } };

static const uint64_t *layout_of(const char *build, uint32_t *version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (!strcmp(layouts[i].build, build)) {
            *version = layouts[i].version;
            return layouts[i].words;
        }
    return NULL;
}

static void put_ranges(const struct runtime_module *module, struct feed_runtime *out,
                       const char *function, enum php_range what)
{
    struct runtime_piece pieces[FEED_RUNTIME_RANGES_MAX];
    uint32_t count = runtime_file_pieces(module->file, function, pieces,
                                         FEED_RUNTIME_RANGES_MAX - out->range_count);

    for (uint32_t i = 0; i < count; i++)
        out->ranges[out->range_count++] =
            (struct feed_runtime_range){ .start = pieces[i].start + module->bias,
                                         .end = pieces[i].end + module->bias,
                                         .what = what };
}

enum runtime_found php_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason)
{
    const uint64_t *layout;
    char build[BUILD_BYTES];
    uint64_t executor, globals;

    if (!runtime_file_symbol(module->file, "execute_ex", &executor, NULL))
        return RUNTIME_NOT_HERE;
    *reason = "what it was built for cannot be told";
    if (!runtime_file_text(module->file, build_begins, build, sizeof build))
        return RUNTIME_UNKNOWN;
    layout = layout_of(build, &out->version);
    *reason = "its layout is not known to this isoscope (8.2 without thread safety is)";
    if (!layout || !runtime_file_symbol(module->file, "executor_globals", &globals, NULL))
        return RUNTIME_UNKNOWN;
    memcpy(out->words, layout, PHP_WORDS * sizeof layout[0]);
    out->words[PHP_CURRENT] += globals + module->bias;
    *reason = "its executor's code is not found";
    put_ranges(module, out, "execute_ex", PHP_EXECUTES);
    if (!out->range_count)
        return RUNTIME_UNKNOWN;
    put_ranges(module, out, "zend_call_function", PHP_ENTERS);
    put_ranges(module, out, "zend_generator_resume", PHP_ENTERS);
    return RUNTIME_FOUND;
}
