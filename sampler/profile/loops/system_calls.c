#include "system_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define CALL(name, waits, says)                                                                    \
    [SYS_##name] = { #name, CALL_WAITS_##waits, CALL_SAYS_##says, false }
/* A loop's wait. */
#define LOOP(name, says) [SYS_##name] = { #name, CALL_WAITS_IO, CALL_SAYS_##says, true }

/* By number. A call that is not here seldom waits, or not long. */
static const struct system_call calls[] = {
    CALL(futex, LOCK, WORD),
#ifdef SYS_futex_waitv
    CALL(futex_waitv, LOCK, NOTHING),
#endif
    CALL(flock, LOCK, DESCRIPTOR),
    CALL(fcntl, LOCK, DESCRIPTOR), /* F_SETLKW is the only one that waits */
    CALL(semop, LOCK, NOTHING),
    CALL(semtimedop, LOCK, NOTHING),

    CALL(nanosleep, SLEEP, NOTHING),
    CALL(clock_nanosleep, SLEEP, NOTHING),
    CALL(restart_syscall, SLEEP, NOTHING), /* one of these or poll, after a stop */
    CALL(rt_sigsuspend, SLEEP, NOTHING),
    CALL(rt_sigtimedwait, SLEEP, NOTHING),

    CALL(wait4, CHILD, CHILD),
    CALL(waitid, CHILD, CHILD_OR_FD),
    CALL(clone, CHILD, NOTHING), /* as vfork does, up to the child's exec */
#ifdef SYS_clone3
    CALL(clone3, CHILD, NOTHING),
#endif

    LOOP(epoll_pwait, DESCRIPTOR),
#ifdef SYS_epoll_pwait2
    LOOP(epoll_pwait2, DESCRIPTOR),
#endif
    LOOP(ppoll, POLLED),
    LOOP(pselect6, SELECTED),
#ifdef SYS_io_uring_enter
    LOOP(io_uring_enter, DESCRIPTOR),
#endif

    CALL(read, IO, DESCRIPTOR),
    CALL(write, IO, DESCRIPTOR),
    CALL(readv, IO, DESCRIPTOR),
    CALL(writev, IO, DESCRIPTOR),
    CALL(pread64, IO, DESCRIPTOR),
    CALL(pwrite64, IO, DESCRIPTOR),
    CALL(preadv, IO, DESCRIPTOR),
    CALL(pwritev, IO, DESCRIPTOR),
    CALL(preadv2, IO, DESCRIPTOR),
    CALL(pwritev2, IO, DESCRIPTOR),
    CALL(sendfile, IO, DESCRIPTOR),
    CALL(splice, IO, DESCRIPTOR),
    CALL(tee, IO, DESCRIPTOR),
    CALL(vmsplice, IO, DESCRIPTOR),
    CALL(copy_file_range, IO, DESCRIPTOR),
    CALL(recvfrom, IO, DESCRIPTOR),
    CALL(recvmsg, IO, DESCRIPTOR),
    CALL(recvmmsg, IO, DESCRIPTOR),
    CALL(sendto, IO, DESCRIPTOR),
    CALL(sendmsg, IO, DESCRIPTOR),
    CALL(sendmmsg, IO, DESCRIPTOR),
    CALL(accept, IO, DESCRIPTOR),
    CALL(accept4, IO, DESCRIPTOR),
    CALL(connect, IO, DESCRIPTOR),
    CALL(shutdown, IO, DESCRIPTOR),
    CALL(close, IO, DESCRIPTOR),
    CALL(ioctl, IO, DESCRIPTOR),
    CALL(fsync, IO, DESCRIPTOR),
    CALL(fdatasync, IO, DESCRIPTOR),
    CALL(sync_file_range, IO, DESCRIPTOR),
    CALL(syncfs, IO, DESCRIPTOR),
    CALL(sync, IO, NOTHING),
    CALL(msync, IO, NOTHING),
    CALL(fallocate, IO, DESCRIPTOR),
    CALL(ftruncate, IO, DESCRIPTOR),
    CALL(truncate, IO, PATH),
    CALL(readahead, IO, DESCRIPTOR),
    CALL(fadvise64, IO, DESCRIPTOR),
    CALL(getdents64, IO, DESCRIPTOR),
    CALL(fstat, IO, DESCRIPTOR),
    CALL(lseek, IO, DESCRIPTOR),
    CALL(openat, IO, PATH_AT),
#ifdef SYS_openat2
    CALL(openat2, IO, PATH_AT),
#endif
    CALL(newfstatat, IO, PATH_AT),
    CALL(statx, IO, PATH_AT),
    CALL(statfs, IO, PATH),
    CALL(faccessat, IO, PATH_AT),
#ifdef SYS_faccessat2
    CALL(faccessat2, IO, PATH_AT),
#endif
    CALL(readlinkat, IO, PATH_AT),
    CALL(unlinkat, IO, PATH_AT),
    CALL(mkdirat, IO, PATH_AT),
    CALL(renameat2, IO, PATH_AT),
    CALL(execve, IO, PATH),
    CALL(mount, IO, NOTHING),
    CALL(umount2, IO, PATH),
    CALL(mmap, IO, NOTHING),
    CALL(munmap, IO, NOTHING),
    CALL(mprotect, IO, NOTHING),
    CALL(madvise, IO, NOTHING),
    CALL(mremap, IO, NOTHING),
    CALL(mlock, IO, NOTHING),
    CALL(mlockall, IO, NOTHING),
    CALL(brk, IO, NOTHING),
    CALL(io_getevents, IO, NOTHING),
    CALL(io_submit, IO, NOTHING),
    CALL(mq_timedreceive, IO, DESCRIPTOR),
    CALL(mq_timedsend, IO, DESCRIPTOR),
    CALL(msgrcv, IO, NOTHING),
    CALL(msgsnd, IO, NOTHING),
    CALL(getrandom, IO, NOTHING),
    CALL(process_vm_readv, IO, NOTHING),
    CALL(ptrace, IO, NOTHING),

/* The older ones, which newer machines never had. */
#ifdef SYS_poll
    LOOP(poll, POLLED),
#endif
#ifdef SYS_select
    LOOP(select, SELECTED),
#endif
#ifdef SYS_epoll_wait
    LOOP(epoll_wait, DESCRIPTOR),
#endif
#ifdef SYS_pause
    CALL(pause, SLEEP, NOTHING),
#endif
#ifdef SYS_vfork
    CALL(vfork, CHILD, NOTHING),
#endif
#ifdef SYS_open
    CALL(open, IO, PATH),
    CALL(stat, IO, PATH),
    CALL(lstat, IO, PATH),
    CALL(access, IO, PATH),
    CALL(readlink, IO, PATH),
    CALL(unlink, IO, PATH),
    CALL(mkdir, IO, PATH),
    CALL(rmdir, IO, PATH),
    CALL(rename, IO, PATH),
    CALL(creat, IO, PATH),
#endif
};

/* None: the thread waits for a page. */
static const struct system_call page = { "", CALL_WAITS_FAULT, CALL_SAYS_NOTHING, false };
static const struct system_call other = { "", CALL_WAITS_IO, CALL_SAYS_NOTHING, false };

const struct system_call *system_call_of(long number)
{
    if (number < 0)
        return &page;
    if ((size_t)number >= sizeof(calls) / sizeof(calls[0]) || !calls[number].name)
        return &other;
    return &calls[number];
}
