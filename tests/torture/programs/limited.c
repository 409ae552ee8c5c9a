/* Threads, children and memory under whatever limits the caller has set. */
#include "torture.h"

static void *body(void *unused)
{
    char *memory = malloc(10000);

    CHECK(memory);
    memset(memory, 1, 10000);
    spin(40);
    free(memory);
    return unused;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t threads[4];
    pid_t pid;

    begin();
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 65536) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], &attr, body, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pid = fork();
    if (pid == 0) {
        spin(40);
        _exit(3);
    }
    CHECK(ends_with(pid, 3));
    spin(40);
    return fine();
}
