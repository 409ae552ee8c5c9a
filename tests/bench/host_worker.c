/*
 * host_worker.c - one of many programs of a host: busy, and counts what it does where all can see it.
 *
 *   host_worker FILE NUMBER     FILE: 64 bytes for each; word 0 turns; of slot 0 word 1 ends all, and
 *                             word 2 begins all
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT_WORDS = 8, SLOTS_MAX = 4096, WAIT_US = 20000 };

static __attribute__((noinline)) uint32_t step(uint32_t value)
{
    for (int i = 0; i < 64; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

static __attribute__((noinline)) uint32_t turn(uint32_t value)
{
    for (int i = 0; i < 256; i++)
        value = step(value);
    return value;
}

int main(int argc, char **argv)
{
    int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
    volatile uint64_t *words;
    uint32_t value = 1;
    unsigned slot = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

    if (fd < 0 || !slot || slot >= SLOTS_MAX)
        return 2;
    words = mmap(NULL, SLOTS_MAX * SLOT_WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                 MAP_SHARED, fd, 0);
    if (words == MAP_FAILED)
        return 1;
    close(fd);
    while (!words[2] && !words[1])
        usleep(WAIT_US);
    while (!words[1]) {
        value = turn(value);
        words[slot * SLOT_WORDS]++;
    }
    return value == 42;
}
