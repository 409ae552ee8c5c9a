#include "tasks.h"

#include "../../feed/sys.h"
#include "../system/task_file.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { ENTRIES_BYTES = 8192 };

/* A thread may tell us of itself, or meet its first tick, just while a scan takes it. */
static SIGNAL_SAFE bool has_another(struct threads *threads, uint32_t stranger)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (slot != stranger &&
            threads_at(threads, slot)->tid == threads_at(threads, stranger)->tid &&
            (slot < stranger || !threads_at(threads, slot)->scanned))
            return true;
    return false;
}

static SIGNAL_SAFE int32_t number_in(const char *text)
{
    int32_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    return value;
}

static SIGNAL_SAFE bool task_exists(int32_t tid)
{
    char path[TASK_PATH_BYTES];

    task_file_path(path, tid, "");
    return sys_call4(SYS_faccessat, AT_FDCWD, path, F_OK, 0) == 0;
}

struct kernel_dirent {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* A thread that has just begun tells us itself; only one that a scan has met before is
 * unregistered. */
static SIGNAL_SAFE bool met_before(struct threads *threads, int32_t tid, struct unregistered *met)
{
    for (uint32_t i = 0; i < threads->unregistered.count; i++)
        if (threads->unregistered.tids[i] == tid)
            return true;
    if (met->count < UNREGISTERED_MAX)
        met->tids[met->count++] = tid;
    return false;
}

static SIGNAL_SAFE void take_task(struct threads *threads, int32_t tid)
{
    const struct stack_range unknown = { 0 };
    uint32_t slot = threads_take(threads, tid, &unknown, true);

    threads_at(threads, slot)->account.late = true;
}

/* met: NULL takes all, at once. */
static SIGNAL_SAFE void take_new_tasks(struct threads *threads, const char *entries, long bytes,
                                       struct unregistered *met)
{
    for (long at = 0; at < bytes;) {
        const struct kernel_dirent *entry = (const struct kernel_dirent *)(entries + at);
        int32_t tid = number_in(entry->name);

        if (tid && !threads_find(threads, tid) && (!met || met_before(threads, tid, met)))
            take_task(threads, tid);
        at += entry->bytes;
    }
}

static SIGNAL_SAFE void drop_gone_tasks(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        struct sampled_thread *sampled = threads_at(threads, slot);
        int32_t tid;

        if (atomic_load_explicit(&sampled->state, memory_order_acquire) != SAMPLED_ARMED)
            continue;
        tid = sampled->tid;
        if (!task_exists(tid)) {
            threads_leave(threads, slot);
        } else if (sampled->scanned && has_another(threads, slot)) {
            threads_leave(threads, slot);
            threads_find(threads, tid); /* its ticks go there from now on */
        }
    }
}

/* The task directory's link count is the number of threads + 2: one call. 0: not known. */
static SIGNAL_SAFE uint32_t count_tasks(void)
{
    struct stat directory;

    return sys_call4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &directory, 0) == 0
               ? (uint32_t)directory.st_nlink - 2
               : 0;
}

bool tasks_alone(void)
{
    return count_tasks() <= 1;
}

/* When nothing has changed. */
static SIGNAL_SAFE bool counts_agree(struct threads *threads)
{
    return count_tasks() == atomic_load_explicit(threads_live(threads), memory_order_relaxed);
}

/* In a new PID namespace /proc is often still the old one's, which numbers our threads otherwise:
 * by it all of them would be gone, and unregistered there. */
static SIGNAL_SAFE bool numbers_are_ours(int32_t own_tid)
{
    return task_exists(own_tid);
}

static SIGNAL_SAFE bool read_tasks(struct threads *threads, struct unregistered *met)
{
    static char *entries; /* not for the stack of whichever thread it is */
    long fd, bytes;

    if (!entries && !(entries = pages_new(ENTRIES_BYTES)))
        return false;
    fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    while ((bytes = sys_call3(SYS_getdents64, fd, entries, ENTRIES_BYTES)) > 0)
        take_new_tasks(threads, entries, bytes, met);
    sys_call1(SYS_close, fd);
    return true;
}

void tasks_scan(struct threads *threads)
{
    static struct unregistered met;

    if (counts_agree(threads) || !numbers_are_ours(sys_gettid()))
        return;
    met.count = 0;
    if (!read_tasks(threads, &met))
        return;
    threads->unregistered = met;
    drop_gone_tasks(threads);
}

void tasks_take_all(struct threads *threads)
{
    if (numbers_are_ours(sys_gettid()))
        read_tasks(threads, NULL);
}

void tasks_own_name(struct threads *threads, uint32_t slot)
{
    struct sampled_thread *sampled = threads_at(threads, slot);
    char name[16] = { 0 };

    if (atomic_load_explicit(&sampled->named, memory_order_acquire))
        feed_writer_thread_name(threads->writer, slot, sampled->name);
    else if (sys_call2(SYS_prctl, PR_GET_NAME, name) == 0)
        feed_writer_thread_name(threads->writer, slot, name);
}
