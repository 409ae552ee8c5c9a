/*
 * code_kinds.cpp - CPU time in every kind of code that a C++ compiler makes.
 *
 *     code_kinds SECONDS          each kind a part of them
 *     code_kinds SECONDS stub     all in the one that goes through a stub
 */
#include "burn.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace
{

double unit_seconds;
volatile uint64_t burnt; /* what nobody asks for the compiler does not compute */

/* Until the caller's share of the time is over; in the caller's own code. */
__attribute__((always_inline)) inline void spend()
{
    struct burn burn = { 88172645463325252 };
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + unit_seconds;

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int unit = 0; unit < 64; unit++) /* for the clock costs as much as some units */
            burn_rounds(&burn, burn_draw(&burn));
    burnt = burn.state;
}

NOINLINE void hidden(void (*after)(int))
{
    spend();
    after(1);
}

void nothing(int)
{
}

} // namespace

namespace shapes
{

template <class T> struct Box {
    T side;

    NOINLINE T grow(int by) const
    {
        spend();
        return side + by;
    }
    template <class U> NOINLINE U as(std::vector<U> (*make)(T), const std::string &why) const
    {
        spend();
        return make(side)[0] + static_cast<U>(why.size());
    }
    NOINLINE explicit operator bool() const
    {
        spend();
        return side != 0;
    }
};

NOINLINE Box<int> operator+(const Box<int> &left, const Box<int> &right)
{
    spend();
    return { left.side + right.side };
}

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Circle : Shape {
    NOINLINE double area() const override
    {
        spend();
        return 3;
    }
};

} // namespace shapes

__attribute__((cold, noinline)) static void note(const char *what)
{
    std::fputs(what, stderr);
}

/* The compiler moves what leads to note away from the rest. */
NOINLINE int sometimes(int argument)
{
    if (__builtin_expect(argument > 1000, 0)) {
        spend();
        note("");
    }
    return argument * 2;
}

template <class F> NOINLINE int call(F function)
{
    int result = function(3);

    __asm__ volatile("");
    return result;
}

static std::vector<long> one(int number)
{
    return { number };
}

/* The stub takes a share of the time, for the function behind it does next to nothing. */
NOINLINE static int through_the_stub()
{
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + unit_seconds;
    int sum = 0;

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100000; i++)
            sum += abs(i);
    return sum;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;

    unit_seconds = argc > 2 ? seconds : seconds / 9;
    if (argc > 2)
        return std::string(argv[2]) == "stub" ? through_the_stub() == 0 : 2;
    shapes::Box<int> box = { argc };
    std::map<std::string, shapes::Shape *> shapes = { { "circle", new shapes::Circle } };
    auto lambda = [&box](int number) NOINLINE {
        spend();
        return number + box.side;
    };

    int result = box.grow(1) + static_cast<int>(box.as<long>(one, "why")) + bool(box);
    result += (box + box).side + call(lambda) + sometimes(argc + 1000) + through_the_stub();
    result += static_cast<int>(shapes["circle"]->area());
    hidden(nothing);
    return result == 0;
}
