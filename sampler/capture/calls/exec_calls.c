/*
 * exec_calls.c - the program's calls that end in exec, with exec_guard.h around them.
 *
 * Within libc they call each other by hidden names, so each is wrapped. One search of a PATH is one
 * call, and one guard. They may be called in signal handlers and after vfork: no allocation, the
 * words of a list are gathered on the stack, as libc does it.
 */
#include "exec_guard.h"
#include "preload.h"

#include "../../include/isoscope/isoscope.h"

#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef char *const *words;

static int (*next_execve)(const char *, words, words);
static int (*next_execv)(const char *, words);
static int (*next_execvp)(const char *, words);
static int (*next_execvpe)(const char *, words, words);
static int (*next_fexecve)(int, words, words);
static int (*next_execveat)(int, const char *, words, words, int);

void preload_find_exec_calls(void)
{
    FIND_NEXT(execve);
    FIND_NEXT(execv);
    FIND_NEXT(execvp);
    FIND_NEXT(execvpe);
    FIND_NEXT(fexecve);
    FIND_NEXT(execveat);
}

#define GUARDED(call)                                                                              \
    do {                                                                                           \
        struct exec_guard guard_;                                                                  \
                                                                                                   \
        exec_guard_begin(&guard_);                                                                 \
        result = call;                                                                             \
        exec_guard_end(&guard_);                                                                   \
    } while (0)

#define EXEC(name, parameters, names)                                                              \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        int result;                                                                                \
                                                                                                   \
        FIND_NEXT(name);                                                                           \
        GUARDED(NEXT(name) names);                                                                 \
        return result;                                                                             \
    }

EXEC(execve, (const char *path, words argv, words env), (path, argv, env))
EXEC(execv, (const char *path, words argv), (path, argv))
EXEC(execvp, (const char *file, words argv), (file, argv))
EXEC(execvpe, (const char *file, words argv, words env), (file, argv, env))
EXEC(fexecve, (int fd, words argv, words env), (fd, argv, env))

long preload_exec_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;

    GUARDED(preload_next_syscall(number, a, b, c, d, e, f));
    return result;
}

/* glibc has it since 2.34. */
ISOSCOPE_API int execveat(int fd, const char *path, words argv, words env, int flags)
{
    int result;

    FIND_NEXT(execveat);
    preload_find_syscall();
    GUARDED(NEXT(execveat) ? NEXT(execveat)(fd, path, argv, env, flags)
                           : (int)preload_next_syscall(SYS_execveat, fd, path, argv, env, flags));
    return result;
}

/* ---- lists of words ---- */

static size_t count_words(const char *first, va_list *more)
{
    size_t count = 0;

    for (const char *word = first; word; word = va_arg(*more, const char *))
        count++;
    return count;
}

static void take_words(char **list, const char *first, va_list *more)
{
    for (const char *word = first; word; word = va_arg(*more, const char *))
        *list++ = (char *)word;
    *list = NULL;
}

/* list: a char **, which gets the words. more: a va_list, which then stands behind them. */
#define GATHER(list, first, more)                                                                  \
    do {                                                                                           \
        size_t count_;                                                                             \
                                                                                                   \
        va_start(more, first);                                                                     \
        count_ = count_words(first, &more);                                                        \
        va_end(more);                                                                              \
        list = __builtin_alloca((count_ + 1) * sizeof *list);                                      \
        va_start(more, first);                                                                     \
        take_words(list, first, &more);                                                            \
    } while (0)

ISOSCOPE_API int execl(const char *path, const char *first, ...)
{
    char **list;
    va_list more;

    GATHER(list, first, more);
    va_end(more);
    return execv(path, list);
}

ISOSCOPE_API int execlp(const char *file, const char *first, ...)
{
    char **list;
    va_list more;

    GATHER(list, first, more);
    va_end(more);
    return execvp(file, list);
}

ISOSCOPE_API int execle(const char *path, const char *first, ...)
{
    char **list;
    words env;
    va_list more;

    GATHER(list, first, more);
    env = va_arg(more, words);
    va_end(more);
    return execve(path, list, env);
}
