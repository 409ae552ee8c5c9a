/* closefrom(3) again and again, also in children, beside pipes that are opened and used: numbers
 * and contents are the program's own. */
#include "torture.h"

static void *body(void *unused)
{
    spin(150);
    return unused;
}

static void talk(void)
{
    int ends[2];
    char text[6] = "";

    closefrom(3);
    CHECK(pipe(ends) == 0 && ends[0] == 3 && ends[1] == 4);
    CHECK(write(ends[1], "hello", 5) == 5);
    spin(1);
    CHECK(read(ends[0], text, 5) == 5 && !strcmp(text, "hello"));
    CHECK(close_range(3, ~0u, 0) == 0);
}

int main(void)
{
    pthread_t thread;

    begin();
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
    for (int i = 0; i < 60; i++) {
        pid_t pid = i % 6 ? -1 : fork();

        talk();
        if (pid == 0)
            _exit(4);
        CHECK(pid < 0 || ends_with(pid, 4));
    }
    CHECK(pthread_join(thread, NULL) == 0);
    return fine();
}
