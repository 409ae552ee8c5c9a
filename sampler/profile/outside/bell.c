#include "bell.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/thread.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORD_BYTES = sizeof(uint32_t), LOOK_S = 1 };

struct bell {
    void (*rung)(void *context);
    void *context;
    uint32_t *word; /* nobody ever writes it */
    pthread_t thread;
    bool started;
    _Atomic bool stopping;
};

static void *run(void *argument)
{
    const struct timespec look = { LOOK_S, 0 };
    struct bell *bell = argument;

    pthread_setname_np(pthread_self(), "iso-bell");
    while (!atomic_load(&bell->stopping))
        if (syscall(SYS_futex, bell->word, FUTEX_WAIT, 0, &look, NULL, 0) == 0 &&
            !atomic_load(&bell->stopping))
            bell->rung(bell->context);
    return NULL;
}

static int map_word(struct bell *bell, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    void *page;

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    page = mmap(NULL, WORD_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        return -ISOSCOPE_SYSTEM;
    bell->word = page;
    return 0;
}

int bell_new(struct bell **out, const char *path, void (*rung)(void *context), void *context)
{
    struct bell *bell = calloc(1, sizeof(*bell));
    int error = bell ? map_word(bell, path) : -ISOSCOPE_NO_MEMORY;

    if (!error) {
        bell->rung = rung;
        bell->context = context;
        error = thread_start(&bell->thread, run, bell);
        bell->started = !error;
    }
    if (error) {
        bell_free(bell);
        return error;
    }
    *out = bell;
    return 0;
}

void bell_free(struct bell *bell)
{
    if (!bell)
        return;
    atomic_store(&bell->stopping, true);
    if (bell->started) {
        syscall(SYS_futex, bell->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        pthread_join(bell->thread, NULL);
    }
    if (bell->word)
        munmap(bell->word, WORD_BYTES);
    free(bell);
}
