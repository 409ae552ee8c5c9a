// Two threads throw and catch C++ exceptions as fast as they can; all destructors run.
#include "torture.h"

#include <stdexcept>

namespace
{

enum { THROWS = 60000, DEPTH = 5 };

struct Counted {
    explicit Counted(int &count) : count(count)
    {
    }
    ~Counted()
    {
        count++;
    }
    int &count;
};

__attribute__((noinline)) int throw_from(int depth, int value, int &destroyed)
{
    Counted counted(destroyed);

    if (depth == 0)
        throw std::runtime_error(value % 2 ? "odd" : "even");
    return throw_from(depth - 1, value, destroyed) + 1;
}

void *body(void *unused)
{
    int destroyed = 0, odd = 0;

    for (int i = 0; i < THROWS; i++) {
        try {
            throw_from(DEPTH, i, destroyed);
            CHECK(!"came back");
        } catch (const std::exception &error) {
            odd += strcmp(error.what(), "odd") == 0;
        }
    }
    CHECK(odd == THROWS / 2 && destroyed == THROWS * (DEPTH + 1));
    return unused;
}

} // namespace

int main()
{
    begin();
    run_threads(2, body, nullptr);
    return fine();
}
