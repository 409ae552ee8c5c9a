#include "blocked.h"

#include <string.h>
#include <sys/syscall.h>

/* On to the next number in hexadecimal; false at the end. */
static bool next_hex(const char **text, uint64_t *out)
{
    const char *at = *text;

    while (*at == ' ')
        at++;
    if (at[0] != '0' || at[1] != 'x')
        return false;
    *out = 0;
    for (at += 2; *at && *at != ' ' && *at != '\n'; at++) {
        unsigned digit = (unsigned)(*at <= '9' ? *at - '0' : *at - 'a' + 10);

        if (digit > 15 || (*at > '9' && *at < 'a'))
            return false;
        *out = *out << 4 | digit;
    }
    *text = at;
    return true;
}

/* "running", or "NUMBER ARG*6 SP PC", or "-1 SP PC" outside system calls. */
bool blocked_parse(const char *text, struct blocked *out)
{
    bool none = !strncmp(text, "-1 ", 3);

    *out = (struct blocked){ .runs = !strncmp(text, "running", 7), .number = none ? -1 : 0 };
    if (out->runs)
        return true;
    if (none)
        text += 2;
    else if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        out->number = out->number * 10 + (*text - '0');
    for (int argument = 0; !none && argument < 6; argument++)
        if (!next_hex(&text, &out->arguments[argument]))
            return false;
    return next_hex(&text, &out->sp) && next_hex(&text, &out->pc);
}

enum feed_state blocked_state(long number)
{
    switch (number) {
    case SYS_futex:
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
    case SYS_flock:
    case SYS_fcntl: /* F_SETLKW is the only one that waits */
    case SYS_semop:
    case SYS_semtimedop:
        return FEED_STATE_LOCK;
    /* These wait for whatever comes first, or for time alone. */
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_restart_syscall: /* one of these two or poll, after a stop */
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_sched_yield:
#ifdef __x86_64__
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
#endif
        return FEED_STATE_SLEEP;
    default:
        /* Reads and writes of all kinds; and calls that wait for a disk inside the kernel. */
        return FEED_STATE_IO;
    }
}
