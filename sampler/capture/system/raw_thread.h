/*
 * raw_thread.h - a thread that libc does not know.
 *
 * A pthread of ours would change the program: its last own thread could no longer end the process
 * with pthread_exit, its malloc and stdio would take locks that a single thread does not need,
 * and its descriptors would be ours too. This one has its own descriptor table: nothing the program
 * closes or counts is ours, and we never take a number it expects.
 *
 * It shares the creator's thread-local memory, so it may use nothing of libc that touches errno or
 * any other such variable: system calls go through sys.h, memory comes from pages.h.
 *
 * Errors     raw_thread_start: 0 or -errno.
 */
#ifndef ISOSCOPE_RAW_THREAD_H
#define ISOSCOPE_RAW_THREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct raw_thread {
    _Atomic uint32_t tid; /* the kernel sets it to 0 when the thread has ended */
    int last_tid;         /* what it was */
    void *stack;
    size_t stack_bytes;
};

/* All signals are blocked in it. body returns when the thread is to end. */
int raw_thread_start(struct raw_thread *thread, void (*body)(void *), void *argument);
/* Waits until the kernel has no such thread any more, and frees its stack. */
void raw_thread_join(struct raw_thread *thread);
/* In a forked child: the thread stayed in the parent, its stack came along. */
void raw_thread_forget(struct raw_thread *thread);

#endif
