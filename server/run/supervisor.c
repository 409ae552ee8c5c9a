#include "supervisor.h"

#include "signals.h"

#include "../feeds/process_files.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervisor {
    const struct inherited *inherited;
    const struct supervisor_events *events;
    void *context;
    pid_t child;     /* 0: not started, or ended */
    pid_t service;   /* 0: not started, or ended */
    int child_stop;  /* the signal that the program is stopped by; 0: it runs */
    bool stop_new;   /* it was stopped just now: nobody has continued us since */
    bool stop_asked; /* we were told to stop as well, since the program last went on */
    bool continued;  /* somebody continued the program, and we have not been told yet */
    int end_asked;   /* by this signal, while the program was dying; 0: nobody has asked so */
    int signals;     /* the signalfd */
};

int supervisor_new(struct supervisor **out, const struct inherited *inherited,
                   const struct supervisor_events *events, void *context)
{
    struct supervisor *supervisor = calloc(1, sizeof(*supervisor));
    sigset_t taken;

    if (!supervisor)
        return -ISOSCOPE_NO_MEMORY;
    signals_taken(&taken);
    sigprocmask(SIG_BLOCK, &taken, NULL);
    supervisor->inherited = inherited;
    supervisor->events = events;
    supervisor->context = context;
    supervisor->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (supervisor->signals < 0) {
        free(supervisor);
        return -ISOSCOPE_SYSTEM;
    }
    *out = supervisor;
    return 0;
}

void supervisor_free(struct supervisor *supervisor)
{
    if (!supervisor)
        return;
    close(supervisor->signals);
    free(supervisor);
}

/* Stops as a program does that leaves the signal alone, until our caller continues us. */
static void stop_self(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Else the signal was for the whole process group, and the program's end is what it asked for. */
static bool was_killed_by_another(int wait_status, int number)
{
    return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != number;
}

static void program_ended(struct supervisor *supervisor, int wait_status,
                          const struct rusage *usage)
{
    const struct profile_exit end = { .pid = supervisor->child,
                                      .wait_status = wait_status,
                                      .cpu_ns = ns_of(usage->ru_utime) + ns_of(usage->ru_stime) };

    supervisor->child = 0;
    supervisor->events->program_ended(supervisor->context, &end);
    if (supervisor->end_asked && was_killed_by_another(wait_status, supervisor->end_asked))
        supervisor->events->asked_to_end(supervisor->context, supervisor->end_asked);
}

static void reap_service(struct supervisor *supervisor)
{
    int wait_status;

    if (!supervisor->service || waitpid(supervisor->service, &wait_status, WNOHANG) <= 0)
        return;
    supervisor->service = 0;
    supervisor->events->service_ended(supervisor->context, wait_status);
}

static void reap_program(struct supervisor *supervisor)
{
    while (supervisor->child > 0) {
        struct rusage usage;
        int status;

        if (wait4(supervisor->child, &status, WUNTRACED | WCONTINUED | WNOHANG, &usage) <= 0)
            return;
        supervisor->child_stop = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
        supervisor->stop_new = supervisor->child_stop != 0;
        supervisor->continued = WIFCONTINUED(status);
        if (supervisor->continued)
            supervisor->stop_asked = false;
        else if (!WIFSTOPPED(status))
            program_ended(supervisor, status, &usage);
    }
}

/* As process 1 of a container we inherit what the program leaves behind: nobody else would collect it. */
static void reap_strangers(const struct supervisor *supervisor)
{
    siginfo_t ended = { 0 };

    if (getpid() != 1)
        return;
    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
        /* One of ours that has ended just now: its SIGCHLD is still to come. */
        if (ended.si_pid == supervisor->child || ended.si_pid == supervisor->service)
            return;
        waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
}

/* SIGCHLDs merge, so each one asks for all that has happened. */
static void reap(struct supervisor *supervisor)
{
    reap_service(supervisor); /* first: a service that has gone is told nothing */
    reap_program(supervisor);
    reap_strangers(supervisor);
}

static bool is_stop(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Who started us puts what it starts into groups of their own, as a shell does that somebody types
 * into: it hears of a stop, and continues the group. */
static bool is_job(void)
{
    pid_t parent = getppid();

    return getsid(parent) == getsid(0) && getpgid(parent) != getpgrp();
}

/*
 * When the terminal stops the job, we stop with the program, so that the shell sees the job
 * stopped. If we are a job of our own, we also stop when the program is stopped in another way, or
 * stops itself. Else we run on: nobody would continue us.
 */
static void follow_stop(struct supervisor *supervisor)
{
    if (!supervisor->child_stop || !(supervisor->stop_asked || (supervisor->stop_new && is_job())))
        return;
    supervisor->stop_asked = supervisor->stop_new = false;
    stop_self(supervisor->child_stop);
}

static void take_signal(struct supervisor *supervisor, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;

    if (number == SIGCONT) {
        reap(supervisor); /* has it been continued already? */
        supervisor->stop_new = false;
    }
    if (is_stop(number))
        supervisor->stop_asked = true;

    struct signal_seen seen = {
        .number = number,
        .code = info->ssi_code,
        .program_runs = supervisor->child > 0,
        .program_continued = supervisor->continued,
        .session_leader = getsid(0) == getpid(),
        .ignored = sigismember(&supervisor->inherited->ignored, number) == 1,
    };

    if (number == SIGCONT)
        supervisor->continued = false;
    /* It may have been killed just now: SIGCHLD is still to come. */
    if (signal_action(&seen) == SIGNAL_PASS_ON)
        seen.program_runs = !process_is_dying(supervisor->child);
    switch (signal_action(&seen)) {
    case SIGNAL_DROP:
        break;
    case SIGNAL_PASS_ON:
        kill(supervisor->child, number);
        break;
    case SIGNAL_REAP:
        reap(supervisor);
        break;
    case SIGNAL_STOP:
        stop_self(number);
        break;
    case SIGNAL_END:
        if (supervisor->child > 0) /* for a moment */
            supervisor->end_asked = number;
        else
            supervisor->events->asked_to_end(supervisor->context, number);
        break;
    }
}

static void take_all(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;

    while (read(supervisor->signals, &info, sizeof(info)) == sizeof(info))
        take_signal(supervisor, &info);
    follow_stop(supervisor); /* after all: SIGCHLD comes before the SIGTSTP that caused it */
}

bool supervisor_step(struct supervisor *supervisor, int fd, int milliseconds)
{
    struct pollfd either[2] = { { .fd = supervisor->signals, .events = POLLIN },
                                { .fd = fd, .events = POLLIN } };

    if (poll(either, 2, milliseconds) <= 0)
        return false;
    if (either[0].revents)
        take_all(supervisor);
    return either[1].revents != 0;
}

int supervisor_start(struct supervisor *supervisor, const struct child_plan *plan, int *problem)
{
    return child_start(&supervisor->child, plan, problem);
}

pid_t supervisor_program(const struct supervisor *supervisor)
{
    return supervisor->child;
}

void supervisor_adopt_service(struct supervisor *supervisor, pid_t service)
{
    supervisor->service = service;
}
