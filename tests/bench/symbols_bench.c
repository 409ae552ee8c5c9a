/*
 * symbols_bench.c - what isoscope's own readers say about addresses of one module, and what it
 * costs.
 *
 *     symbols_bench names|lines|print MODULE ADDRESSES
 *
 * ADDRESSES is a file of hexadecimal ELF addresses. `names` and `lines` look each up once, as a
 * cold start has to, and tell their CPU time and memory; `lines` then looks them up again and
 * again. `print` writes what addr2line -a -f -i would.
 */
#include "own_usage.h"
#include "sampler/feed/cleanup.h"
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
    unsigned long address;

    if (!file) {
        perror(path);
        exit(1);
    }
    while (fscanf(file, "%lx", &address) == 1) {
        if (question->count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            question->addresses = reallocarray(question->addresses, capacity, sizeof(uint64_t));
            if (!question->addresses)
                exit(1);
        }
        question->addresses[question->count++] = address;
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

static void bench_warm(struct lines *lines, const struct question *question)
{
    uint64_t random = 1, frames = 0;
    double start = seconds_now();

    for (uint32_t i = 0; i < WARM_LOOKUPS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        frames += look_up(lines, question->addresses[(random >> 33) % question->count]);
    }
    printf("warm_per_second %.0f\nwarm_frames %lu\n", WARM_LOOKUPS / (seconds_now() - start),
           frames);
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
    bench_warm(lines, question);
    lines_close(lines);
    symbols_free(symbols);
}

static void print_frame(const struct line_frame *frame, const struct symbol *symbol)
{
    const char *name = frame->linkage_name ? frame->linkage_name : frame->name;

    if (!name)
        name = symbol->raw_name;
    printf("%s\n%s:%u\n", name ? name : "??", frame->file ? frame->file : "??", frame->line);
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
            print_frame(&frames[k], k + 1 == count ? &symbol : &(struct symbol){ 0 });
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
