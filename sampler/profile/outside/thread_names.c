#include "thread_names.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_US = 500000, NAMES_A_LOOK = 64 };

bool thread_name_read(int32_t pid, int32_t tid, char name[16])
{
    char path[64];
    ssize_t bytes;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    memset(name, 0, 16);
    bytes = read(fd, name, 16);
    close(fd);
    name[bytes > 0 ? bytes - 1 : 0] = '\0'; /* the line's end */
    return bytes > 0;
}

/* In another pid namespace the program's numbers mean nothing here. */
void thread_names_follow(struct thread_names *names, struct feed_reader *reader, int32_t pid,
                         bool all, int64_t now_us)
{
    uint32_t slots = feed_reader_slots(reader), looks;

    if (now_us - names->looked_us < LOOK_US || pid != feed_reader_pid(reader))
        return;
    names->looked_us = now_us;
    looks = slots < NAMES_A_LOOK ? slots : NAMES_A_LOOK;
    while (looks--) {
        uint32_t slot = names->next++ % slots;
        struct feed_thread_view thread;
        char name[16];

        if (feed_reader_thread(reader, slot, &thread) && thread.state == FEED_THREAD_LIVE &&
            !thread.named && (all || !thread.name[0]) && thread_name_read(pid, thread.tid, name))
            feed_reader_name_thread(reader, slot, name);
    }
}

void thread_name_complete(struct feed_reader *reader, uint32_t slot, int32_t pid,
                          struct feed_thread_view *thread)
{
    struct feed_thread_view now;
    char name[16];

    if (feed_reader_thread(reader, slot, &now) && now.generation == thread->generation)
        memcpy(thread->name, now.name, sizeof thread->name);
    if (thread->name[0] || pid != feed_reader_pid(reader) ||
        !thread_name_read(pid, thread->tid, name))
        return;
    memcpy(thread->name, name, sizeof thread->name);
    feed_reader_name_thread(reader, slot, name);
}
