"""Functions whose name says what a thread does in them: takes a lock, waits for work, reads, allocates.

    name -> call_of -> LOCK, REST, READ, FILE, MEMORY, ""
    Profile -> of_nodes -> the same of each node: that of its innermost known function

What a system library calls in turn is still that call; what the program's own code calls is not.
"""

from __future__ import annotations

import re
from typing import Sequence

from ..model import Function
from ..profile import Profile
from ..trees.runtime_frames import is_system

LOCK = "lock"  # waits until another thread lets go
REST = "rest"  # waits for work, for time, for another thread's end: nothing to find there
READ = "read"  # waits for a descriptor, which may be work that is to come
FILE = "file"  # waits for a disk or a peer, on the program's own wish
MEMORY = "memory"  # allocates or frees

_NAMES = {
    LOCK: """
        pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock pthread_rwlock_rdlock pthread_rwlock_wrlock
        pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock
        pthread_spin_lock lll_lock_wait lll_lock_wait_private mtx_lock mtx_timedlock flock fcntl lockf flockfile""",
    REST: """
        pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait sem_wait sem_timedwait
        sem_clockwait pthread_join pthread_timedjoin_np pthread_clockjoin_np pthread_clockjoin_ex thrd_join
        pthread_barrier_wait accept accept4 recv recvfrom recvmsg recvmmsg epoll_wait epoll_pwait epoll_pwait2 poll
        ppoll select pselect pause sigwait sigwaitinfo sigtimedwait sigsuspend nanosleep clock_nanosleep usleep sleep
        wait wait3 wait4 waitid waitpid msgrcv mq_receive mq_timedreceive eventfd_read io_getevents io_pgetevents
        io_uring_enter io_uring_wait_cqe""",
    READ: "read readv",
    FILE: """
        write writev pwrite pwritev pwritev2 pread preadv preadv2 fsync fdatasync sync syncfs sync_file_range msync open
        openat openat2 creat close rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir stat lstat fstat fstatat
        statx statfs access faccessat faccessat2 getdents readdir truncate ftruncate fallocate posix_fallocate
        copy_file_range sendfile splice tee send sendto sendmsg sendmmsg connect""",
    MEMORY: """
        malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc pvalloc int_malloc
        int_free int_realloc int_memalign malloc_consolidate unlink_chunk sysmalloc systrim tcache_get tcache_put
        malloc_trim rust_alloc rust_dealloc rust_realloc rust_alloc_zeroed rdl_alloc rdl_dealloc rdl_realloc g_malloc
        g_malloc0 g_realloc g_free g_slice_alloc g_slice_free1""",
}  # fmt: skip
_BY_NAME = {name: call for call, names in _NAMES.items() for name in names.split()}
# Of languages that name their own: Rust's locks and parking, C++'s operators, Abseil.
_BY_PATTERN = (
    (re.compile(r"\b(?:Mutex|RwLock)::(?:lock|read|write)_contended\b"), LOCK),
    (re.compile(r"\bRaw(?:Mutex|RwLock)::lock_(?:slow|shared_slow|exclusive_slow)\b"), LOCK),
    (re.compile(r"^absl::.*\bMutex::(?:Lock|ReaderLock)"), LOCK),
    (re.compile(r"\bCondvar::wait|\bThread::park\b|^std::thread::park"), REST),
    (re.compile(r"^operator (?:new|delete)\b"), MEMORY),
)
_ALLOCATORS = re.compile(r"lib(?:jemalloc|tcmalloc|mimalloc|snmalloc|hoard)")
# What libc calls the same function by: __GI___libc_read, ___pthread_mutex_lock, pread64, __read_nocancel.
_OTHER_NAME = re.compile(r"_*(?:GI_+)?(?:libc_)?(.*?)(?:_nocancel)?(?:64)?(?:_time64)?(?:@.*| \[.*)?")


def call_of(function: Function) -> str:
    if function.library is not None and _ALLOCATORS.match(function.library.name):
        return MEMORY
    name = function.name
    found = _OTHER_NAME.fullmatch(name)
    known = _BY_NAME.get(name) or _BY_NAME.get(found[1] if found else name)
    if known is not None:
        return known
    return next((call for pattern, call in _BY_PATTERN if pattern.search(name)), "")


def of_nodes(profile: Profile) -> list[str]:
    """Of each node of the profile."""
    told = [call_of(frame.function) for frame in profile.frames]
    # A raw system call is whoever's asked for it.
    passes = [is_system(f.function) or "futex" in f.function.name or "syscall" in f.function.name for f in profile.frames]
    calls = [""]
    for caller, number in zip(profile.callers[1:], profile.node_frames[1:]):
        calls.append(told[number] or (calls[caller] if passes[number] else ""))
    return calls


def in_memory(profile: Profile, calls: Sequence[str]) -> bytearray:
    """Of each node: is an allocator on its stack?"""
    inside = bytearray(len(profile.callers))
    for node in range(1, len(inside)):
        inside[node] = inside[profile.callers[node]] or calls[node] == MEMORY
    return inside
