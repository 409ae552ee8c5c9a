/*
 * memory.h - reads a process's memory through the kernel: a bad address is an error, no fault.
 *
 * The one reader of both halves. process_vm_readv is refused by some containers and unknown to some
 * kernels; then the same bytes are in /proc/PID/mem.
 *
 * Units      pid: 0 is oneself. Another process's memory takes the rights to trace it.
 * Signals    All SIGNAL_SAFE. memory_copy opens no descriptor: a program's thread may close all that
 *            it finds while a tick of another one runs.
 * Errors     -EFAULT: nothing is mapped there. Others: the kernel does not let us read.
 * Source     process_vm_readv(2), proc(5)
 */
#ifndef ISOSCOPE_MEMORY_H
#define ISOSCOPE_MEMORY_H

#include "../../feed/sys.h"
#include "proc_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* By the one call alone. Returns as memory_read_some. */
SIGNAL_SAFE_INLINE long memory_copy(int32_t pid, void *out, uint64_t address, uint64_t bytes)
{
    struct iovec to = { out, bytes };
    struct iovec from = { (void *)address, bytes };

    return sys_call6(SYS_process_vm_readv, pid ? pid : sys_call0(SYS_getpid), (long)&to, 1,
                     (long)&from, 1, 0);
}

SIGNAL_SAFE_INLINE bool memory_is_refused(long got)
{
    return got == -EPERM || got == -EACCES || got == -ENOSYS;
}

/* refused: what is returned where this is refused too. */
SIGNAL_SAFE_INLINE long memory_copy_by_proc(int32_t pid, void *out, uint64_t address,
                                            uint64_t bytes, long refused)
{
    char path[PROC_PATH_BYTES];
    long fd, got;

    proc_path(path, pid, "/mem");
    fd = sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return refused;
    got = sys_call4(SYS_pread64, fd, out, bytes, address);
    sys_call1(SYS_close, fd);
    return got < 0 ? -EFAULT : got;
}

/* Returns how many bytes there were up to the end of what is mapped, or -errno. */
SIGNAL_SAFE_INLINE long memory_read_some(int32_t pid, void *out, uint64_t address, uint64_t bytes)
{
    long got = memory_copy(pid, out, address, bytes);

    return memory_is_refused(got) ? memory_copy_by_proc(pid, out, address, bytes, got) : got;
}

/* All of it, or false. */
SIGNAL_SAFE_INLINE bool memory_read(int32_t pid, void *out, uint64_t address, uint64_t bytes)
{
    return memory_read_some(pid, out, address, bytes) == (long)bytes;
}

#endif
