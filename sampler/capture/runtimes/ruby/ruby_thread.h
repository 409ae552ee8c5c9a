/*
 * ruby_thread.h - the execution context of the sampled thread: the one of its fiber that runs.
 *
 *   ruby_current_vm_ptr -> ractors -> their threads -> the one whose pthread_self() it is -> ec
 *
 * That one is remembered by the thread's number; that it is still linked is checked each time.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     0: it is no thread of Ruby's, or the lists are being changed.
 */
#ifndef ISOSCOPE_RUBY_THREAD_H
#define ISOSCOPE_RUBY_THREAD_H

#include "ruby.h"

SIGNAL_SAFE uint64_t ruby_thread_ec(struct runtime_scan *scan, uint32_t entry);

#endif
