/* One thread closes all numbers that it did not open, and uses pipes that then lie there; the other
 * one says again and again that a library goes, which opens nothing. */
#include "torture.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { ROUNDS = 3000 };

static _Atomic bool over;

static void *body(void *unused)
{
    while (!over) {
        CHECK(dlclose(dlopen(NULL, RTLD_NOW)) == 0);
        spin_us(300);
    }
    return unused;
}

static void talk(int round)
{
    int ends[2];
    char text[6] = "";

    spin_us(100); /* the lowest numbers are free */
    if (round % 3 == 0)
        closefrom(3);
    else if (round % 3 == 1)
        CHECK(close_range(3, ~0u, 0) == 0);
    else
        CHECK(syscall(SYS_close_range, 3, ~0u, 0) == 0);
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "hello", 5) == 5);
    spin_us(100);
    CHECK(read(ends[0], text, 5) == 5 && !strcmp(text, "hello"));
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void)
{
    pthread_t thread;

    begin();
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++)
        talk(round);
    over = true;
    CHECK(pthread_join(thread, NULL) == 0);
    return fine();
}
