/* A tick by trap, as the kernel queues it (sampler/capture/threads/user_clock.c reads it). */
#ifndef FAKE_TRAP_H
#define FAKE_TRAP_H

#include "sampler/feed/sys.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* For the calling thread. False: the kernel would not have it. */
static inline bool fake_trap(void)
{
    enum { TRAP_CODE_PERF = 6, DATA_AT = 24 };
    const uint64_t data = UINT64_C(0x69736f73) << 32 | 1;
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = SIGTRAP;
    info.si_code = TRAP_CODE_PERF;
    memcpy((char *)&info + DATA_AT, &data, sizeof data);
    return sys_call4(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info) == 0;
}

#endif
