/*
 * process_stacks.c - stacks of a running process: who sleeps is read as it is, who runs is stopped for a moment.
 */
#include "held_stack.h"
#include "stack_modules.h"
#include "stack_walk.h"
#include "thread_stop.h"
#include "thread_waits.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/maps.h"
#include "../../capture/system/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Copied while a thread is stopped: frames further out change too seldom to be held for. */
enum { COPY_BYTES = 128 * 1024 };
enum { PATH_BYTES = 4200, TEXT_BYTES = 4096, ROUND = 64, LOOKS_MAX = 3 };

struct process {
    pid_t pid;
    struct thread_stacks *stacks;
    struct stack_memory memory;
    struct stack_walker *walker;
    struct stack_copy copy;
    struct waits_target waits;
};

static size_t read_memory(const void *context, uint64_t address, void *out, size_t bytes)
{
    long got = memory_read_some(*(const pid_t *)context, out, address, bytes);

    return got > 0 ? (size_t)got : 0;
}

/* Of the process, or of one of its threads. Ends with 0. False: it cannot be read. */
static bool read_text(pid_t pid, pid_t tid, const char *name, char *out, size_t size)
{
    char path[PATH_BYTES];
    ssize_t got = -1;
    int fd;

    if (tid)
        snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    else
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, out, size - 1);
        close(fd);
    }
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool is_file(const char *path, const struct stack_mapping *mapping)
{
    struct stat about;

    return stat(path, &about) == 0 && about.st_ino == mapping->inode;
}

/* By its name in the process's own root; or, where that is another file by now, as the kernel keeps it. */
static char *file_of(const void *context, const struct stack_mapping *mapping)
{
    const pid_t pid = *(const pid_t *)context;
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapping->path);
    if (mapping->path[0] == '/' && is_file(mapping->path, mapping))
        return strdup(mapping->path);
    if (mapping->path[0] == '/' && is_file(path, mapping))
        return strdup(path);
    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
             (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    if (mapping->path[0] == '/' && access(path, R_OK) == 0)
        return strdup(path); /* root's alone */
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return mapping->path[0] == '/' && is_file(path, mapping) ? strdup(path) : NULL;
}

static bool read_modules(struct process *process)
{
    struct stack_modules modules = { .stacks = process->stacks,
                                     .memory = &process->memory,
                                     .file_of = file_of,
                                     .context = &process->pid };
    struct maps_reader *reader = malloc(sizeof(*reader));
    struct maps_line line;
    bool good = reader && maps_open(reader, process->pid) == 0;

    if (good) {
        while (good && maps_next(reader, &line)) {
            const struct stack_mapping mapping = { line.start,
                                                   line.end,
                                                   line.offset,
                                                   line.inode,
                                                   makedev(line.dev_major, line.dev_minor),
                                                   line.inode || !strcmp(line.path, "[vdso]")
                                                       ? line.path
                                                       : "" };

            good = stack_modules_add(&modules, &mapping);
        }
        maps_close(reader);
    }
    free(reader);
    return good;
}

/* The number that it has in the innermost pid namespace. */
static pid_t own_number(pid_t pid, pid_t tid)
{
    char text[TEXT_BYTES];
    const char *line, *last;

    if (!read_text(pid, tid, "status", text, sizeof(text)) || !(line = strstr(text, "\nNSpid:")))
        return tid;
    line++;
    for (last = line + strcspn(line, "\n"); last > line && last[-1] >= '0' && last[-1] <= '9';
         last--)
        ;
    return (pid_t)atol(last);
}

static bool add_thread(struct thread_stacks *stacks, pid_t tid)
{
    struct stack_thread *thread;
    char text[TEXT_BYTES];
    const char *end;

    if (stacks->thread_count % ROUND == 0) {
        struct stack_thread *grown =
            reallocarray(stacks->threads, stacks->thread_count + ROUND, sizeof(*grown));

        if (!grown)
            return false;
        stacks->threads = grown;
    }
    if (!read_text(stacks->pid, tid, "stat", text, sizeof(text)))
        return true; /* it has ended */
    thread = &stacks->threads[stacks->thread_count++];
    *thread = (struct stack_thread){ .tid = tid, .own_tid = own_number(stacks->pid, tid) };
    /* "TID (NAME) S ...": a name may have anything in it. */
    end = strrchr(text, ')');
    thread->state = end && end[1] == ' ' ? end[2] : '?';
    if (read_text(stacks->pid, tid, "comm", text, sizeof(text))) {
        text[strcspn(text, "\n")] = '\0';
        snprintf(thread->name, sizeof(thread->name), "%.15s", text);
    }
    return true;
}

static int by_tid(const void *one, const void *other)
{
    const struct stack_thread *a = one, *b = other;

    return (a->tid > b->tid) - (a->tid < b->tid);
}

static bool read_threads(struct process *process)
{
    char path[64];
    bool good = true;
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
    tasks = opendir(path);
    if (!tasks)
        return false;
    while (good && (entry = readdir(tasks)))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            good = add_thread(process->stacks, (pid_t)atol(entry->d_name));
    closedir(tasks);
    qsort(process->stacks->threads, process->stacks->thread_count, sizeof(struct stack_thread),
          by_tid);
    return good && process->stacks->thread_count;
}

/* What is there at this moment, and whether it was so throughout. */
static bool walk_asleep(struct process *process, struct stack_thread *thread, const char *call,
                        const struct stack_registers *registers)
{
    char after[TEXT_BYTES];

    process->memory.copy_bytes = 0;
    stack_memory_forget(&process->memory);
    return stack_walk(process->walker, registers, thread) &&
           read_text(process->pid, thread->tid, "syscall", after, sizeof(after)) &&
           !strcmp(call, after);
}

static const char uninterruptible[] = "it cannot be stopped: it sleeps uninterruptibly";

static const char *why_not_stopped(int problem)
{
    return problem == ESRCH       ? "it has ended meanwhile"
           : problem == ETIMEDOUT ? uninterruptible
                                  : strerror(problem);
}

static void walk_stopped(struct process *process, struct stack_thread *thread)
{
    struct stack_registers registers;
    int problem = thread_stop(process->pid, thread->tid, &registers, &process->copy, NULL,
                              &thread->stopped_ns);

    if (problem) {
        snprintf(thread->why, sizeof(thread->why), "%s", why_not_stopped(problem));
        return;
    }
    process->memory.copy = process->copy.bytes;
    process->memory.copy_at = process->copy.at;
    process->memory.copy_bytes = process->copy.count;
    stack_walk(process->walker, &registers, thread);
    process->memory.copy_bytes = 0;
}

/* A sleeper may wake between two looks: then it is looked at again, and at last stopped. */
static void read_thread(struct process *process, struct stack_thread *thread)
{
    struct blocked blocked = { .runs = true, .number = -1 };
    char call[TEXT_BYTES];
    bool stood = false;

    for (int look = 0; look < LOOKS_MAX && !stood; look++) {
        struct stack_registers registers;

        if (!read_text(process->pid, thread->tid, "syscall", call, sizeof(call)) ||
            !blocked_parse(call, &blocked) || blocked.runs || !blocked.pc)
            break;
        registers = stack_registers_few(blocked.pc, blocked.sp);
        stood = walk_asleep(process, thread, call, &registers);
    }
    if (stood)
        thread_waits(&process->waits, thread, &blocked);
    if (stood && !thread->complete && thread->state == 'D')
        snprintf(thread->why, sizeof(thread->why), "%s", uninterruptible);
    else if (!stood || (!thread->complete && (blocked.number < 0 || call_goes_on(blocked.number))))
        walk_stopped(process, thread);
}

static void close_process(struct process *process)
{
    stack_walker_free(process->walker);
    stack_memory_free(&process->memory);
    free(process->copy.bytes);
}

static bool open_process(struct process *process, struct thread_stacks *stacks)
{
    *process = (struct process){ .pid = stacks->pid, .stacks = stacks };
    process->copy.bytes = malloc(COPY_BYTES);
    process->copy.room = COPY_BYTES;
    if (process->copy.bytes)
        memset(process->copy.bytes, 1,
               COPY_BYTES); /* its pages are there before anybody is stopped */
    if (process->copy.bytes && stack_memory_new(&process->memory, read_memory, &process->pid))
        process->walker = stack_walker_new(stacks, &process->memory);
    process->waits = (struct waits_target){ stacks, &process->memory, stacks->pid };
    return process->walker;
}

static void read_exe(struct thread_stacks *stacks)
{
    char path[64];
    ssize_t got;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)stacks->pid);
    got = readlink(path, stacks->exe, sizeof(stacks->exe) - 1);
    stacks->exe[got > 0 ? got : 0] = '\0';
}

bool thread_stacks_of_process(struct thread_stacks **out, pid_t pid, struct refusal *why)
{
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    struct thread_stacks *stacks;
    struct process process;
    bool good;

    if (!refusal_look(why, pid) || !refusal_look_inside(why, pid))
        return false;
    stacks = calloc(1, sizeof(*stacks));
    if (!stacks)
        return refusal_say(why, "there is no memory");
    stacks->pid = pid;
    read_exe(stacks);
    good = open_process(&process, stacks) && read_modules(&process) && read_threads(&process);
    for (uint32_t i = 0; good && i < stacks->thread_count; i++)
        read_thread(&process, &stacks->threads[i]);
    close_process(&process);
    if (!good) {
        thread_stacks_free(stacks);
        return refusal_say(why, "process %d has ended meanwhile, or there is no memory", (int)pid);
    }
    stacks->took_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
    *out = stacks;
    return true;
}

struct thread_stacks *held_stack(pid_t pid, const struct user_regs_struct *registers)
{
    struct thread_stacks *stacks = calloc(1, sizeof(*stacks));
    struct stack_registers known = { .known = (UINT64_C(1) << STACK_REGISTERS) - 1 };
    struct process process;
    bool good;

    if (!stacks)
        return NULL;
    stacks->pid = pid;
    stacks->threads = calloc(1, sizeof(*stacks->threads));
    stacks->thread_count = stacks->threads != NULL;
    stack_registers_take(registers, known.value, &known.call, known.arguments);
    good = open_process(&process, stacks) && read_modules(&process) && stacks->threads &&
           stack_walk(process.walker, &known, stacks->threads);
    close_process(&process);
    if (good)
        return stacks;
    thread_stacks_free(stacks);
    return NULL;
}
