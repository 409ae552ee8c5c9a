/*
 * why_unsampled.h - why the sampler is not in a program that runs, where that is certain.
 *
 * Read from /proc: nothing is asked of the program.
 */
#ifndef ISOSCOPE_WHY_UNSAMPLED_H
#define ISOSCOPE_WHY_UNSAMPLED_H

#include <sys/types.h>

/* For users: what is so, and what to do. */
#define UNSAMPLED_REASONS(X)                                                                       \
    X(OTHER_USER, "it runs as another user, who cannot reach isoscope: run isoscope as that user") \
    X(RAISED, "the loader ignores LD_PRELOAD in programs that gain rights (set-user-ID): run "     \
              "isoscope with those rights")                                                        \
    X(STATIC, "it is statically linked, which is not supported: link it dynamically")              \
    X(VALGRIND, "it runs under valgrind, which is not supported: run it without valgrind")         \
    X(MUSL, "it uses musl, and the sampler needs glibc: build it for glibc")                       \
    X(GO_ALONE, "it is a Go program without cgo, which does not use libc: build it with cgo "      \
                "(CGO_ENABLED=1 and import \"C\")")                                                \
    X(FOREIGN, "it is for another processor, or 32-bit")                                           \
    X(HIDDEN, "it sees other files in isoscope's folder: give it the same /tmp (or "               \
              "$XDG_RUNTIME_DIR) and the same /usr")                                               \
    X(DESCRIPTORS, "it has no file descriptors left to reach isoscope with: raise ulimit -n")      \
    X(CLEARED, "LD_PRELOAD was removed from its environment: keep LD_PRELOAD and ISOSCOPE_*")

#define UNSAMPLED_ENUM(name, text) UNSAMPLED_##name,
enum unsampled_reason { UNSAMPLED_NONE, UNSAMPLED_REASONS(UNSAMPLED_ENUM) UNSAMPLED_COUNT };
#undef UNSAMPLED_ENUM

/* NONE: no reason is seen. feed_path: of the socket that it has to reach. */
enum unsampled_reason why_unsampled(pid_t pid, const char *feed_path);
/* Of a forked child that has not begun: one that is its parent's program. */
enum unsampled_reason why_fork_unsampled(pid_t pid);
const char *unsampled_text(enum unsampled_reason reason);

#endif
