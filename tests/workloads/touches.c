/*
 * touches.c - a program that touches memory for the first time, known amounts in known functions.
 *
 *     touches PAGES      `first` touches three times as many pages as `second`; says how many page faults each had
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGE = 4096 };

static long faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static char *fresh(size_t pages)
{
    char *memory =
        mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_NOHUGEPAGE) < 0)
        exit(2);
    return memory;
}

static __attribute__((noinline)) long first(size_t pages)
{
    volatile char *memory = fresh(3 * pages);
    long before = faults();

    for (size_t i = 0; i < 3 * pages; i++)
        memory[i * PAGE] = 1;
    return faults() - before;
}

static __attribute__((noinline)) long second(size_t pages)
{
    volatile char *memory = fresh(pages);
    long before = faults();

    for (size_t i = 0; i < pages; i++)
        memory[i * PAGE] = 1;
    return faults() - before;
}

int main(int argc, char **argv)
{
    size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    long in_first = first(pages), in_second = second(pages);

    printf("first %ld\nsecond %ld\n", in_first, in_second);
    return 0;
}
