/* Closes every number it never opened, puts its own descriptors on all of them, and uses them. */
#include "torture.h"

enum { HIGHEST = 900, ROUNDS = 20 };

static void *body(void *unused)
{
    spin(200);
    return unused;
}

int main(void)
{
    pthread_t thread;

    begin();
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        char byte;

        for (int fd = 3; fd < 1024; fd++)
            CHECK(close(fd) < 0 && errno == EBADF);
        CHECK(pipe(ends) == 0);
        for (int fd = ends[1] + 1; fd <= HIGHEST; fd++)
            CHECK(dup2(ends[fd % 2], fd) == fd);
        spin(5);
        for (int fd = 101; fd < HIGHEST; fd += 100) {
            CHECK(write(fd, "x", 1) == 1 && read(fd - 1, &byte, 1) == 1 && byte == 'x');
        }
        for (int fd = ends[0]; fd <= HIGHEST; fd++)
            CHECK(close(fd) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    return fine();
}
