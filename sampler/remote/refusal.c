#include "refusal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { NATIVE_MACHINE = EM_X86_64 };
#define NATIVE_NAME "64-bit x86-64"
#elif defined(__aarch64__)
enum { NATIVE_MACHINE = EM_AARCH64 };
#define NATIVE_NAME "64-bit ARM"
#endif

enum { STATUS_BYTES = 8192, PATH_BYTES = 64 };

bool refusal_say(struct refusal *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out->text, sizeof(out->text), format, arguments);
    va_end(arguments);
    return false;
}

/* Returns bytes, 0-terminated; -1 with errno. */
static ssize_t read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[PATH_BYTES];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = read(fd, out, size - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got;
}

/* The rest of the line that begins with the word; NULL: there is none. */
static const char *field(const char *status, const char *word)
{
    const char *at = strstr(status, word);

    return at ? at + strlen(word) + strspn(at + strlen(word), " \t") : NULL;
}

static long number_of(const char *status, const char *word)
{
    const char *at = field(status, word);

    return at ? strtol(at, NULL, 10) : -1;
}

/* A number names a process by its first thread. */
static bool look_at_thread(struct refusal *out, pid_t pid, const char *status)
{
    long group = number_of(status, "\nTgid:");

    if (group < 0 || group == pid)
        return true;
    return refusal_say(out, "%d is a thread of process %ld: give that number", (int)pid, group);
}

static bool look_at_machine(struct refusal *out, pid_t pid)
{
    unsigned char head[20];
    char path[PATH_BYTES];
    ssize_t got = -1;
    uint16_t machine;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, head, sizeof(head));
        close(fd);
    }
    if (got != (ssize_t)sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return true;
    memcpy(&machine, head + 18, sizeof(machine));
    if (head[EI_CLASS] == ELFCLASS64 && machine == NATIVE_MACHINE)
        return true;
    return refusal_say(
        out,
        "process %d is a %s program of another architecture; this isoscope reads " NATIVE_NAME
        " only",
        (int)pid, head[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit");
}

static bool look_at_owner(struct refusal *out, pid_t pid, const char *status)
{
    long uid = number_of(status, "\nUid:");
    struct passwd *user;

    if (geteuid() == 0 || uid < 0 || (uid_t)uid == geteuid())
        return true;
    user = getpwuid((uid_t)uid);
    return refusal_say(out, "process %d belongs to %s: run isoscope as that user, or as root",
                       (int)pid, user ? user->pw_name : "another user");
}

static bool look_at_tracer(struct refusal *out, pid_t pid, const char *status)
{
    long tracer = number_of(status, "\nTracerPid:");
    char name[64] = "";

    if (tracer <= 0)
        return true;
    read_proc((pid_t)tracer, "comm", name, sizeof(name));
    name[strcspn(name, "\n")] = '\0';
    return refusal_say(out,
                       "process %d is traced by %s (pid %ld) already: a process has one tracer; "
                       "end that one first",
                       (int)pid, name[0] ? name : "another process", tracer);
}

bool refusal_look(struct refusal *out, pid_t pid)
{
    char status[STATUS_BYTES], one[16];
    const char *state;

    if (pid == getpid())
        return refusal_say(out, "%d is isoscope itself", (int)pid);
    if (read_proc(pid, "status", status, sizeof(status)) <= 0)
        return refusal_say(out, "there is no process %d", (int)pid);
    state = field(status, "\nState:");
    if (state && *state == 'Z' && number_of(status, "\nThreads:") > 1)
        return refusal_say(out,
                           "the first thread of process %d has ended while others run on: the "
                           "kernel shows nothing of such a process",
                           (int)pid);
    if (state && (*state == 'Z' || *state == 'X'))
        return refusal_say(
            out, "process %d has ended; its parent (pid %ld) has not asked for its status yet",
            (int)pid, number_of(status, "\nPPid:"));
    if (!look_at_thread(out, pid, status))
        return false;
    /* A kernel thread has no memory of its own, so no line of it. */
    if (!field(status, "\nVmSize:") && read_proc(pid, "cmdline", one, sizeof(one)) == 0)
        return refusal_say(out, "process %d is a thread of the kernel: it runs no program",
                           (int)pid);
    return look_at_owner(out, pid, status) && look_at_machine(out, pid) &&
           look_at_tracer(out, pid, status);
}

static bool say_ptrace(struct refusal *out, pid_t pid)
{
    char text[16] = "";
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t got = read(fd, text, sizeof(text) - 1);

        close(fd);
        text[got > 0 ? got : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
    }
    if (text[0] && text[0] != '0')
        return refusal_say(out,
                           "the kernel does not let isoscope read process %d "
                           "(kernel.yama.ptrace_scope is %s): run it as root, or "
                           "`sysctl kernel.yama.ptrace_scope=0`",
                           (int)pid, text);
    return refusal_say(out,
                       "the kernel does not let isoscope read process %d: it has other rights, is "
                       "not dumpable, or this container "
                       "lacks CAP_SYS_PTRACE; run isoscope as root, outside of it",
                       (int)pid);
}

bool refusal_look_inside(struct refusal *out, pid_t pid)
{
    char text[64];

    if (read_proc(pid, "syscall", text, sizeof(text)) > 0)
        return true;
    return errno == ENOENT || errno == ESRCH
               ? refusal_say(out, "process %d has ended meanwhile", (int)pid)
               : say_ptrace(out, pid);
}
