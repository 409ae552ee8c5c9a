/*
 * loops_seen.c - runs a program with the sampler in it, and prints the loops that it told of.
 *
 *     loops_seen LIBRARY PROGRAM [WORDS...]
 *
 * It is a service that only listens: it takes the feeds of the program and its children, and reads their tables of
 * loops when the program has ended. A line each: the process's place among those that said hello (0: the first), and of
 * the loop its kind, whether its thread is the main one, how it ended, and its last mark. Its exit status is the
 * program's.
 */
#include "sampler/feed/feed_reader_loops.h"
#include "sampler/feed/message.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEEDS_MAX = 64, LOOK_MS = 10 };

static struct feed_reader *feeds[FEEDS_MAX];
static int feed_count;

static int listen_at(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strncpy(at.sun_path, path, sizeof at.sun_path - 1);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, FEEDS_MAX) < 0) {
        perror("loops_seen: listen");
        exit(125);
    }
    return fd;
}

/* The feed is the first descriptor; a clock may come behind it. */
static void take_feed(int connection)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct feed_hello hello;
    struct iovec part = { &hello, sizeof hello };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int fds[2] = { -1, -1 };

    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof hello ||
        message.msg_controllen < CMSG_LEN(sizeof(int)) || feed_count == FEEDS_MAX)
        return;
    memcpy(fds, CMSG_DATA(&control.head), control.head.cmsg_len - CMSG_LEN(0));
    if (fds[1] >= 0)
        close(fds[1]);
    if (feed_reader_open(&feeds[feed_count], fds[0]) == 0)
        feed_count++;
}

static void take_feeds(int listener, int wait_ms)
{
    struct pollfd ready = { listener, POLLIN, 0 };

    while (poll(&ready, 1, wait_ms) > 0) {
        int connection = accept(listener, NULL, NULL);

        take_feed(connection);
        close(connection);
    }
}

static void print_loops(int place)
{
#define KIND_WORD(name, word) [FEED_LOOP_##name] = word,
    static const char *const kinds[] = { FEED_LOOP_KINDS(KIND_WORD) };
#undef KIND_WORD
    const struct feed_reader *feed = feeds[place];
    struct feed_loop_view loop;
    struct feed_loop_marks marks;

    for (uint32_t number = 1; number < feed_reader_loops(feed); number++)
        if (feed_reader_loop(feed, number, &loop) && feed_reader_loop_marks(feed, number, &marks))
            printf("%d %s %s %s %llu %s\n", place, kinds[loop.kind],
                   loop.tid == feed_reader_pid(feed) ? "main" : "thread",
                   loop.state == FEED_LOOP_ENDED ? "ended" : "live", (unsigned long long)marks.mark,
                   loop.name);
}

int main(int count, char **words)
{
    char folder[] = "/tmp/loops_seen.XXXXXX", path[64];
    int listener, status;
    pid_t program;

    if (count < 3 || !mkdtemp(folder))
        return 125;
    snprintf(path, sizeof path, "%s/feed", folder);
    listener = listen_at(path);
    program = fork();
    if (program == 0) {
        setenv(FEED_ENV_SOCKET, path, 1);
        setenv("LD_PRELOAD", words[1], 1);
        execvp(words[2], words + 2);
        _exit(126);
    }
    while (waitpid(program, &status, WNOHANG) == 0)
        take_feeds(listener, LOOK_MS);
    take_feeds(listener, 0);
    unlink(path);
    rmdir(folder);
    for (int place = 0; place < feed_count; place++)
        print_loops(place);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
