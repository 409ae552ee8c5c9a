/*
 * thread.h - threads of the service: deaf to signals, which are the program's.
 */
#ifndef ISOSCOPE_THREAD_H
#define ISOSCOPE_THREAD_H

#include <pthread.h>

/* 0 or -ISOSCOPE_SYSTEM. */
int thread_start(pthread_t *out, void *(*run)(void *argument), void *argument);

#endif
