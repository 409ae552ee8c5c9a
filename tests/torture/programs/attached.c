/* attached WAY: goes on until it is told to end (SIGTERM), and checks what it does all the time: attaching.py samples it from
 * outside and loads the sampler into it meanwhile. Prints how many rounds it did, and how many of its waits were cut short. */
#include "torture.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static _Atomic bool over;
static _Atomic unsigned long rounds, interrupted;

static void end(int number)
{
    (void)number;
    over = true;
}

/* A call that nobody makes with a lock of libc's. */
static void call_kernel(void)
{
    CHECK(syscall(SYS_getppid) > 0);
}

static void allocate(void)
{
    enum { KEPT = 64 };
    static __thread unsigned char *kept[KEPT];
    static __thread unsigned long state = 88172645463325252ul;

    for (int i = 0; i < 200; i++) {
        unsigned char **place;

        state = burn(state, 1);
        place = &kept[state % KEPT];
        CHECK(!*place || (*place)[0] == (*place)[1]);
        free(*place);
        *place = malloc(2 + (state >> 8) % 3000);
        CHECK(*place);
        (*place)[0] = (*place)[1] = (unsigned char)state;
    }
    call_kernel();
}

static void load(void)
{
    void *library = dlopen("plugin_2.so", RTLD_NOW);

    CHECK(library);
    CHECK(dlclose(library) == 0);
    call_kernel();
}

static void make_child(void)
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        free(malloc(1000));
        _exit(7);
    }
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void wait_for_time(void)
{
    static __thread int fd = -1;
    struct epoll_event event;
    struct timespec time = { 0, 3000000 };

    if (fd < 0)
        fd = epoll_create1(EPOLL_CLOEXEC);
    interrupted +=
        epoll_wait(fd, &event, 1, 3) < 0 && !over; /* the signal that ends it ends a wait, too */
    interrupted += poll(NULL, 0, 3) < 0 && !over;
    interrupted += nanosleep(&time, NULL) < 0 && !over;
}

static void compute(void)
{
    static __thread unsigned long state = 1;
    volatile double sum = 0;

    for (int i = 1; i < 2000; i++)
        sum += 1.0 / i;
    CHECK(sum > 8.177 && sum < 8.179);
    state = burn(state, 1000);
    call_kernel();
}

/* One of two threads has a lock of the loader's, and the other one waits for time. */
static int keep_lock(struct dl_phdr_info *info, size_t size, void *over_there)
{
    (void)info, (void)size;
    while (!*(_Atomic bool *)over_there)
        continue; /* no call, so nobody loads anything by this thread */
    return 1;
}

static bool is_first(void)
{
    static bool taken;

    return !__atomic_exchange_n(&taken, true, __ATOMIC_SEQ_CST);
}

static void hold_list(void)
{
    if (is_first())
        dl_iterate_phdr(keep_lock, &over);
    wait_for_time();
}

static void hold_loader(void)
{
    if (is_first())
        CHECK(dlopen("slow_constructor.so", RTLD_NOW));
    wait_for_time();
}

static const struct way {
    const char *name;
    void (*round)(void);
} ways[] = {
    { "malloc", allocate },    { "dlopen", load },     { "fork", make_child },
    { "wait", wait_for_time }, { "compute", compute }, { "list", hold_list },
    { "loader", hold_loader },
};

static void *body(void *way)
{
    while (!over) {
        ((const struct way *)way)->round();
        rounds++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = end };
    pthread_t other;

    sigaction(SIGTERM, &action, NULL);
    for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(argv[1], ways[i].name)) {
            CHECK(pthread_create(&other, NULL, body, (void *)&ways[i]) == 0);
            puts("ready");
            fflush(stdout);
            body((void *)&ways[i]);
            pthread_join(other, NULL);
            printf("rounds %lu, cut short %lu\n", rounds, interrupted);
            return 0;
        }
    fprintf(stderr, "attached malloc|dlopen|fork|wait|compute|list|loader\n");
    return 2;
}
