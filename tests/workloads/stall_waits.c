#include "stall_waits.h"

#include "burn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void must(int succeeded, const char *what)
{
    if (succeeded)
        return;
    perror(what);
    exit(1);
}

/* In its caller: that one is whose wait it is. */
__attribute__((always_inline)) static inline void nap(const char *ms)
{
    double left = atof(ms) / 1e3;
    struct timespec time = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

    while (nanosleep(&time, &time) < 0)
        ;
}

__attribute__((noinline)) void wait_asleep(const char *ms)
{
    nap(ms);
    atomic_signal_fence(memory_order_seq_cst); /* no tail call: the function stays on the stack */
}

/* What a second thread does meanwhile. */
struct helper {
    pthread_t thread;
    const char *ms;
    pthread_mutex_t lock;
    pthread_barrier_t ready;
    int descriptor; /* a pipe's writing end, or userfaultfd's */
    _Atomic int over;
};

static void helper_start(struct helper *helper, const char *name, void *(*run)(void *),
                         const char *ms)
{
    helper->ms = ms;
    pthread_mutex_init(&helper->lock, NULL);
    pthread_barrier_init(&helper->ready, NULL, 2);
    must(pthread_create(&helper->thread, NULL, run, helper) == 0, "pthread_create");
    pthread_setname_np(helper->thread, name);
}

static void helper_end(struct helper *helper)
{
    pthread_join(helper->thread, NULL);
    pthread_barrier_destroy(&helper->ready);
    pthread_mutex_destroy(&helper->lock);
}

__attribute__((noinline)) static void *hold_lock(void *argument)
{
    struct helper *helper = argument;

    pthread_mutex_lock(&helper->lock);
    pthread_barrier_wait(&helper->ready);
    nap(helper->ms);
    pthread_mutex_unlock(&helper->lock);
    return NULL;
}

__attribute__((noinline)) void wait_for_lock(const char *ms)
{
    struct helper holder;

    helper_start(&holder, "holder", hold_lock, ms);
    pthread_barrier_wait(&holder.ready);
    pthread_mutex_lock(&holder.lock);
    pthread_mutex_unlock(&holder.lock);
    helper_end(&holder);
}

static void *write_late(void *argument)
{
    struct helper *helper = argument;

    nap(helper->ms);
    must(write(helper->descriptor, "x", 1) == 1, "write");
    return NULL;
}

__attribute__((noinline)) void wait_for_pipe(const char *ms)
{
    struct helper writer;
    int ends[2];
    char byte;

    must(pipe(ends) == 0, "pipe");
    writer.descriptor = ends[1];
    helper_start(&writer, "writer", write_late, ms);
    must(read(ends[0], &byte, 1) == 1, "read");
    helper_end(&writer);
    close(ends[0]);
    close(ends[1]);
}

__attribute__((noinline)) void wait_for_child(const char *ms)
{
    char seconds[32], *words[] = { "sleep", seconds, NULL };
    pid_t child;

    snprintf(seconds, sizeof(seconds), "%.3f", atof(ms) / 1e3);
    must(posix_spawnp(&child, "sleep", NULL, NULL, words, environ) == 0, "posix_spawn");
    must(waitpid(child, NULL, 0) == child, "waitpid");
}

__attribute__((noinline)) void wait_for_library(const char *ms)
{
    void *plugin;

    setenv("SLOW_PLUGIN_MS", ms, 1);
    plugin = dlopen("slow_plugin.so", RTLD_NOW);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    dlclose(plugin);
}

static void *serve_late(void *argument)
{
    struct helper *helper = argument;
    struct uffd_msg message;
    struct uffdio_zeropage page = { .range.len = (uint64_t)sysconf(_SC_PAGESIZE) };

    must(read(helper->descriptor, &message, sizeof(message)) == sizeof(message), "userfaultfd");
    nap(helper->ms);
    page.range.start = message.arg.pagefault.address & ~(page.range.len - 1);
    must(ioctl(helper->descriptor, UFFDIO_ZEROPAGE, &page) == 0, "UFFDIO_ZEROPAGE");
    return NULL;
}

__attribute__((noinline)) void wait_for_page(const char *ms)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    struct uffdio_api api = { .api = UFFD_API };
    struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = size };
    struct helper server;
    volatile char *page;

    server.descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (server.descriptor < 0 || ioctl(server.descriptor, UFFDIO_API, &api) < 0) {
        perror("userfaultfd");
        exit(STATUS_NOT_HERE);
    }
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(page != MAP_FAILED, "mmap");
    range.range.start = (uint64_t)(uintptr_t)page;
    must(ioctl(server.descriptor, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
    helper_start(&server, "server", serve_late, ms);
    page[0]++;
    helper_end(&server);
    munmap((void *)page, size);
    close(server.descriptor);
}

static void *spin(void *argument)
{
    struct helper *helper = argument;
    struct burn burn = { .state = 88172645463325252u };

    while (!helper->over)
        burn_rounds(&burn, burn_draw(&burn));
    return NULL;
}

__attribute__((noinline)) void wait_for_processor(const char *ms)
{
    enum { EACH = 32, SPINNERS_MAX = 512 };
    static struct helper spinners[SPINNERS_MAX];
    struct burn burn = { .state = 88172645463325252u };
    long count = EACH * sysconf(_SC_NPROCESSORS_ONLN);
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + atof(ms) / 1e3;

    count = count > SPINNERS_MAX ? SPINNERS_MAX : count;
    for (long i = 0; i < count; i++) {
        spinners[i].over = 0;
        helper_start(&spinners[i], "spinner", spin, ms);
    }
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 5; i++)
            burn_rounds(&burn, burn_draw(&burn));
    for (long i = 0; i < count; i++)
        spinners[i].over = 1;
    for (long i = 0; i < count; i++)
        helper_end(&spinners[i]);
}

__attribute__((noinline)) void wait_for_file(const char *path)
{
    char byte;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    must(file >= 0, path);
    must(read(file, &byte, 1) == 1, path);
    close(file);
}

__attribute__((noinline)) void wait_for_mapping(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    volatile const char *page;

    must(file >= 0, path);
    page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
    must(page != MAP_FAILED, path);
    (void)page[0];
    munmap((void *)page, 1);
    close(file);
}
