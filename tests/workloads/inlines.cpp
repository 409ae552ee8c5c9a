/* Templates and lambdas, nearly all inlined: what runs is one function, what was written is not. */
#include <cstdlib>
#include <ctime>

namespace work
{
unsigned long spin(unsigned long count);
static volatile unsigned long sink;

template <typename Step>
static inline __attribute__((always_inline)) unsigned long fold(unsigned long count, Step step)
{
    unsigned long sum = 0;

    for (unsigned long i = 0; i < count; i++)
        sum = step(sum, i);
    return sum;
}

template <int Factor>
struct Mixer {
    inline __attribute__((always_inline)) unsigned long mix(unsigned long a, unsigned long b) const
    {
        return (a ^ b) * Factor + (a >> 7);
    }
};

__attribute__((noinline)) unsigned long spin(unsigned long count)
{
    Mixer<31> mixer;

    return fold(count, [&](unsigned long sum, unsigned long i) __attribute__((always_inline)) {
        return mixer.mix(sum, i);
    });
}
}

static double cpu_seconds()
{
    timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
    unsigned long count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100000;

    while (cpu_seconds() < seconds)
        work::sink = work::sink + work::spin(count);
    return 0;
}
