/*
 * symbols_bench.c - what isoscope's own readers say about addresses of one module, and what it
 * costs.
 *
 *     symbols_bench names|lines|print MODULE ADDRESSES
 *
 * ADDRESSES is a file of hexadecimal ELF addresses. `names` and `lines` look each up once, as a
 * cold start has to, and tell their CPU time and memory. `lines` then looks them up again and
 * again, in random order: in the open debug data (warm_lines), and as a window that is shown again
 * does, in the profile's chains with the record of each function (warm_chains). `print` writes what
 * addr2line -a -f -i would; behind a function's name in the debug data stands, after a tab, that of
 * its symbol.
 */
#include "own_usage.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/store/frame.h"
#include "sampler/profile/naming/symbolizer.h"
#include "sampler/profile/symbols/files/elf_file.h"
#include "sampler/profile/symbols/lines.h"
#include "sampler/profile/symbols/files/root.h"
#include "sampler/profile/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_LOOKUPS = 10 * 1000 * 1000 };

struct question {
    struct module_file module;
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint64_t *addresses;
    uint32_t count;
};

static void read_addresses(struct question *question, const char *path)
{
    FILE *file = fopen(path, "r");
    uint32_t capacity = 0;
    char line[64];

    if (!file) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, file)) {
        if (question->count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            question->addresses = reallocarray(question->addresses, capacity, sizeof(uint64_t));
            if (!question->addresses)
                exit(1);
        }
        question->addresses[question->count++] = strtoul(line, NULL, 16);
    }
    fclose(file);
}

static void read_build_id(struct question *question)
{
    const char *reason;
    CLEANUP(elf_file_closep)
    struct elf_file *file = elf_file_open(ROOT_OURS, question->module.path, &reason);

    if (!file) {
        fprintf(stderr, "%s: %s\n", question->module.path, reason);
        exit(1);
    }
    question->module.build_id = question->build_id;
    question->module.build_id_bytes = elf_file_build_id(file, question->build_id);
}

static void print_peak(void)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long kib;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1)
            printf("peak_kib %lu\n", kib);
    if (file)
        fclose(file);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct symbols *open_symbols(const struct question *question)
{
    struct symbols *symbols;

    if (symbols_read(&symbols, &question->module) < 0)
        exit(1);
    return symbols;
}

static struct lines *open_lines(const struct question *question)
{
    struct lines *lines;

    if (lines_open(&lines, &question->module) < 0)
        exit(1);
    if (lines_reason(lines))
        fprintf(stderr, "%s: %s\n", question->module.path, lines_reason(lines));
    return lines;
}

static void bench_names(const struct question *question)
{
    struct symbols *symbols = open_symbols(question);
    uint32_t found = 0;
    struct symbol symbol;

    for (uint32_t i = 0; i < question->count; i++)
        found += symbols_find(symbols, question->addresses[i], &symbol);
    printf("found %u\n", found);
    print_own_usage();
    print_peak();
    symbols_free(symbols);
}

static uint64_t look_up(struct lines *lines, uint64_t address)
{
    struct line_frame frames[LINES_FRAMES_MAX];
    uint32_t count = lines_find(lines, address, frames);

    return count;
}

typedef uint64_t find_frames(void *context, uint64_t address);

static void bench_warm(const char *name, find_frames *find, void *context,
                       const struct question *question)
{
    uint64_t random = 1, frames = 0;
    double start = seconds_now();

    for (uint32_t i = 0; i < WARM_LOOKUPS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        frames += find(context, question->addresses[(random >> 33) % question->count]);
    }
    printf("%s_per_second %.0f\n%s_frames %f\n", name, WARM_LOOKUPS / (seconds_now() - start), name,
           (double)frames / WARM_LOOKUPS);
}

static uint64_t find_in_lines(void *lines, uint64_t address)
{
    return look_up(lines, address);
}

/* The parts of a profile that name its frames; the symbolizer has no worker and works at once. */
struct named {
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains;
    struct symbolizer *symbolizer;
    uint32_t module;
};

static void open_named(struct named *named, const struct question *question)
{
    struct symbolizer_options options = { 0 };

    if (registry_new(&named->registry) < 0 || functions_new(&named->functions) < 0 ||
        inline_chains_new(&named->chains, INLINE_CHAINS_BYTES_DEFAULT) < 0)
        exit(1);
    options.registry = named->registry;
    options.functions = named->functions;
    options.chains = named->chains;
    if (symbolizer_new(&named->symbolizer, &options) < 0)
        exit(1);
    named->module = registry_number(named->registry, question->module.path,
                                    question->module.build_id, question->module.build_id_bytes);
    for (uint32_t i = 0; i < question->count; i++) {
        uint64_t frame = FRAME_KEY(named->module, question->addresses[i]);

        if (symbolizer_want_frames(named->symbolizer, &frame, 1) != 1)
            exit(1);
    }
}

static void close_named(struct named *named)
{
    symbolizer_free(named->symbolizer);
    inline_chains_free(named->chains);
    functions_free(named->functions);
    registry_free(named->registry);
}

static uint64_t find_in_chains(void *context, uint64_t address)
{
    const struct named *named = context;
    struct chain_frame chain[INLINE_CHAIN_MAX];
    struct function function;
    bool asked;
    uint32_t count =
        inline_chains_find(named->chains, FRAME_KEY(named->module, address), chain, &asked);

    for (uint32_t i = 0; i < count; i++)
        if (chain[i].function)
            functions_get(named->functions, chain[i].function, &function);
    return count;
}

static void bench_chains(const struct question *question)
{
    struct named named;

    open_named(&named, question);
    bench_warm("warm_chains", find_in_chains, &named, question);
    close_named(&named);
}

static void bench_lines(const struct question *question)
{
    struct symbols *symbols = open_symbols(question);
    struct lines *lines = open_lines(question);
    struct symbol symbol;
    uint32_t found = 0;
    uint64_t frames = 0;

    for (uint32_t i = 0; i < question->count; i++) {
        found += symbols_find(symbols, question->addresses[i], &symbol);
        frames += look_up(lines, question->addresses[i]);
    }
    printf("found %u\nframes %lu\nbytes %zu\n", found, frames, lines_bytes(lines));
    print_own_usage();
    print_peak();
    bench_warm("warm_lines", find_in_lines, lines, question);
    lines_close(lines);
    symbols_free(symbols);
    bench_chains(question);
}

/* symbol: of the function itself, which has a second name by it; NULL for what is inlined. */
static void print_frame(const struct line_frame *frame, const struct symbol *symbol)
{
    const char *name = frame->linkage_name ? frame->linkage_name : frame->name;

    if (!name)
        name = symbol && symbol->raw_name ? symbol->raw_name : "??";
    printf("%s%s%s\n%s:%u\n", name, symbol && symbol->raw_name ? "\t" : "",
           symbol && symbol->raw_name ? symbol->raw_name : "", frame->file ? frame->file : "??",
           frame->line);
}

static void print_frames(const struct question *question)
{
    struct symbols *symbols = open_symbols(question);
    struct lines *lines = open_lines(question);
    struct line_frame frames[LINES_FRAMES_MAX];

    for (uint32_t i = 0; i < question->count; i++) {
        struct symbol symbol = { 0 };
        uint32_t count = lines_find(lines, question->addresses[i], frames);

        symbols_find(symbols, question->addresses[i], &symbol);
        printf("0x%016lx\n", question->addresses[i]);
        if (!count)
            frames[count++] = (struct line_frame){ 0 };
        for (uint32_t k = 0; k < count; k++)
            print_frame(&frames[k], frames[k].inlined ? NULL : &symbol);
    }
    lines_close(lines);
    symbols_free(symbols);
}

int main(int argc, char **argv)
{
    struct question question = { 0 };

    if (argc != 4) {
        fprintf(stderr, "usage: symbols_bench names|lines|print MODULE ADDRESSES\n");
        return 2;
    }
    question.module.path = argv[2];
    read_addresses(&question, argv[3]);
    read_build_id(&question);
    if (!strcmp(argv[1], "names"))
        bench_names(&question);
    else if (!strcmp(argv[1], "lines"))
        bench_lines(&question);
    else
        print_frames(&question);
    free(question.addresses);
    return 0;
}
