#include "finder.h"

#include "../../capture/runtimes/ruby/ruby.h"
#include "runtime_file.h"

#include <string.h>

enum {
    VERSION_NUMBERS = 3, /* of ruby_api_version */
    LOOP_LEAST = 8192,   /* bytes of code that the interpreter's loop has */
    NAMES_CODE = 256,    /* that is looked through for where the names are */
    NAMES_BEHIND = 16,   /* the count of all IDs, which the same code reads */
    CANDIDATES = 32,
};

#define VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)

/* CRuby 3.1 for 64 bits. As Debian's 3.1.2 has them, by its own header for its JIT compiler. */
static const uint64_t layout_31[RUBY_WORDS] = {
    [RUBY_VM_RACTORS] = 8,   [RUBY_RACTOR_NODE] = 568,      [RUBY_RACTOR_THREADS] = 304,
    [RUBY_THREAD_EC] = 40,   [RUBY_THREAD_ID] = 80,         [RUBY_THREAD_NATIVE_ID] = 88,
    [RUBY_EC_STACK] = 0,     [RUBY_EC_STACK_WORDS] = 8,     [RUBY_EC_FRAME] = 16,
    [RUBY_FRAME_BYTES] = 64, [RUBY_ISEQ_BODY] = 16,         [RUBY_BODY_SIZE] = 4,
    [RUBY_BODY_CODE] = 8,    [RUBY_BODY_FILE] = 64,         [RUBY_BODY_BASE_LABEL] = 72,
    [RUBY_BODY_LABEL] = 80,  [RUBY_BODY_FIRST_LINE] = 88,   [RUBY_BODY_LINES] = 120,
    [RUBY_LINE_BYTES] = 12,  [RUBY_CLASS_EXTRA] = 24,       [RUBY_EXTRA_VARIABLES] = 8,
    [RUBY_METHOD_ID] = 32,   [RUBY_ID_LAST_OPERATOR] = 169,
};

static const struct {
    uint32_t version;
    const uint64_t *words;
} layouts[] = { { VERSION(3, 1), layout_31 } };

static uint32_t version_of(struct runtime_file *file)
{
    int32_t numbers[VERSION_NUMBERS];
    uint64_t vaddr;

    return runtime_file_symbol(file, "ruby_api_version", &vaddr, NULL) &&
                   runtime_file_bytes(file, vaddr, numbers, sizeof numbers)
               ? VERSION(numbers[0] & 0xff, numbers[1] & 0xff)
               : 0;
}

static const uint64_t *layout_of(uint32_t version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i].version == version)
            return layouts[i].words;
    return NULL;
}

static void put_ranges(struct feed_runtime *out, const struct runtime_piece *pieces, uint32_t count,
                       uint64_t bias, enum ruby_range what)
{
    for (uint32_t i = 0; i < count; i++)
        out->ranges[out->range_count++] = (struct feed_runtime_range){
            .start = pieces[i].start + bias, .end = pieces[i].end + bias, .what = what
        };
}

/* The loop is a function of its own, that no stripped file names, or part of rb_vm_exec. */
static bool find_ranges(const struct runtime_module *module, struct feed_runtime *out)
{
    enum { ROOM = FEED_RUNTIME_RANGES_MAX / 2 };
    struct runtime_piece exec[ROOM], loop[ROOM];
    uint32_t execs = runtime_file_pieces(module->file, "rb_vm_exec", exec, ROOM),
             loops = runtime_file_pieces(module->file, "vm_exec_core", loop, ROOM);

    if (!execs)
        return false;
    if (!loops && exec[0].end - exec[0].start < LOOP_LEAST) {
        loops = runtime_file_callee(module->file, "rb_vm_exec", loop, ROOM);
        if (!loops || loop[0].end - loop[0].start < LOOP_LEAST)
            return false;
    }
    put_ranges(out, exec, execs, module->bias, RUBY_EXEC);
    put_ranges(out, loop, loops, module->bias, RUBY_LOOP);
    return true;
}

#ifdef __x86_64__
/* Where an instruction with such an opcode, one register and an address relative to itself leads. */
static bool relative_at(const uint8_t *code, uint64_t vaddr, uint64_t *target)
{
    int32_t relative;

    if ((code[0] != 0x8b && code[0] != 0x39 && code[0] != 0x3b) || (code[1] & 0xc7) != 0x05)
        return false;
    memcpy(&relative, code + 2, sizeof relative);
    *target = vaddr + 2 + sizeof relative + (uint64_t)(int64_t)relative;
    return true;
}

/* rb_id2str only jumps to what does it. */
static uint64_t after_jump(const uint8_t *code, uint64_t vaddr)
{
    int32_t relative;

    for (uint32_t i = 0; i < 32; i++)
        if (code[i] == 0xe9) {
            memcpy(&relative, code + i + 1, sizeof relative);
            return vaddr + i + 5 + (uint64_t)(int64_t)relative;
        }
    return 0;
}

/* Of two words that lie so far apart the second. 0: there are no such. */
static uint64_t names_in(struct runtime_file *file, uint64_t vaddr)
{
    uint8_t code[NAMES_CODE];
    uint64_t found[CANDIDATES];
    uint32_t count = 0;

    if (!runtime_file_bytes(file, vaddr, code, sizeof code))
        return 0;
    for (uint32_t i = 0; i + 6 < sizeof code && count < CANDIDATES; i++)
        if (relative_at(code + i, vaddr + i, &found[count]))
            count++;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (found[i] == found[j] + NAMES_BEHIND)
                return found[i];
    return 0;
}

/* Nothing that a stripped file exports leads to the names of IDs but the code that reads them. */
static uint64_t find_names(const struct runtime_module *module)
{
    uint8_t code[64];
    uint64_t vaddr, names;

    if (runtime_file_symbol(module->file, "ruby_global_symbols", &vaddr, NULL))
        return vaddr + NAMES_BEHIND + module->bias;
    if (!runtime_file_symbol(module->file, "rb_id2str", &vaddr, NULL) ||
        !runtime_file_bytes(module->file, vaddr, code, sizeof code))
        return 0;
    names = names_in(module->file, vaddr);
    if (!names && after_jump(code, vaddr))
        names = names_in(module->file, after_jump(code, vaddr));
    return names ? names + module->bias : 0;
}
#else
static uint64_t find_names(const struct runtime_module *module)
{
    uint64_t vaddr;

    return runtime_file_symbol(module->file, "ruby_global_symbols", &vaddr, NULL)
               ? vaddr + NAMES_BEHIND + module->bias
               : 0;
}
#endif

enum runtime_found ruby_find(const struct runtime_module *module, struct feed_runtime *out,
                             const char **reason)
{
    const uint64_t *layout;
    uint64_t vm;

    if (!runtime_file_symbol(module->file, "ruby_current_vm_ptr", &vm, NULL))
        return RUNTIME_NOT_HERE;
    out->version = version_of(module->file);
    layout = layout_of(out->version);
    *reason = "its layout is not known to this isoscope (3.1 is)";
    if (!layout)
        return RUNTIME_UNKNOWN;
    memcpy(out->words, layout, RUBY_WORDS * sizeof layout[0]);
    out->words[RUBY_VM] = vm + module->bias;
    out->words[RUBY_NAMES] = find_names(module);
    *reason = "its interpreter's code is not found";
    return find_ranges(module, out) ? RUNTIME_FOUND : RUNTIME_UNKNOWN;
}
