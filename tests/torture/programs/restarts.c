/* Calls that SA_RESTART restarts must never show EINTR: read, write, recv, sem_wait, waitpid. */
#include "torture.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>

enum { ROUNDS = 1500 };

struct pair {
    int fds[2];
    sem_t there;
};

static void *answer(void *argument)
{
    struct pair *pair = argument;
    char byte;

    for (int i = 0; i < ROUNDS; i++) {
        CHECK(sem_wait(&pair->there) == 0);
        CHECK(read(pair->fds[1], &byte, 1) == 1);
        spin_us(100);
        CHECK(write(pair->fds[1], &byte, 1) == 1);
    }
    return NULL;
}

int main(void)
{
    struct pair pair;
    pthread_t thread;
    char byte = 0;

    begin();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.fds) == 0);
    CHECK(sem_init(&pair.there, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, answer, &pair) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(write(pair.fds[0], "x", 1) == 1);
        spin_us(50);
        CHECK(sem_post(&pair.there) == 0);
        CHECK(recv(pair.fds[0], &byte, 1, 0) == 1 && byte == 'x');
    }
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            spin(2);
            _exit(3);
        }
        spin(1);
        CHECK(ends_with(pid, 3));
    }
    close(pair.fds[0]);
    close(pair.fds[1]);
    return fine();
}
