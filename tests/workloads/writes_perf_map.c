/*
 * writes_perf_map CPU_SECONDS [silent] - a just-in-time compiler: makes code in memory of no file,
 * says so in /tmp/perf-PID.map (not if silent), and burns half of the time in called_back, called
 * by that code; then makes more code elsewhere, and burns the rest in called_later.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static double seconds;

/* Keeps a frame pointer, and calls its argument. */
#if defined(__x86_64__)
static const uint8_t machine_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
static const uint32_t machine_code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd,
                                         0xd65f03c0 };
#endif

typedef void (*callback)(void);
typedef void (*jitted)(callback call);

static uint64_t spin(void)
{
    struct burn burn = { .state = 88172645463325252u };
    double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds / 2;

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        burn_rounds(&burn, burn_draw(&burn));
    return burn.state;
}

/* Not a tail call: the frame stays. */
__attribute__((noinline)) static void called_back(void)
{
    if (!spin())
        abort();
}

__attribute__((noinline)) static void called_later(void)
{
    if (spin() < 2)
        abort();
}

static jitted compile(FILE *map, const char *name)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        abort();
    memcpy(code, machine_code, sizeof machine_code);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(code, (char *)code + sizeof machine_code);
    if (map) {
        fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)code, sizeof machine_code, name);
        fflush(map);
    }
    return (jitted)(uintptr_t)code;
}

int main(int argc, char **argv)
{
    char path[64];
    FILE *map = NULL;

    seconds = argc > 1 ? atof(argv[1]) : 1;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    if (argc < 3 && !(map = fopen(path, "w")))
        return 1;
    compile(map, "jitted_first")(called_back);
    /* Something else in between, so that the second area is one of its own. */
    if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return 1;
    compile(map, "jitted_later")(called_later);
    if (map)
        unlink(path);
    return 0;
}
