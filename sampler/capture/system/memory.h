/*
 * memory.h - reads this process's own memory through the kernel: a bad address is an error, no
 * fault.
 */
#ifndef ISOSCOPE_MEMORY_H
#define ISOSCOPE_MEMORY_H

#include "../../feed/sys.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

/* Slower, and needs /proc; for kernels and containers that refuse process_vm_readv. */
static inline bool memory_read_by_proc(void *out, uint64_t address, uint64_t bytes)
{
    long fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
    long got;

    if (fd < 0)
        return false;
    got = sys_call4(SYS_pread64, fd, out, bytes, address);
    sys_call1(SYS_close, fd);
    return got == (long)bytes;
}

static inline bool memory_read(void *out, uint64_t address, uint64_t bytes)
{
    struct iovec to = { out, bytes };
    struct iovec from = { (void *)address, bytes };
    long got =
        sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0);

    return got == (long)bytes || (got < 0 && memory_read_by_proc(out, address, bytes));
}

#endif
