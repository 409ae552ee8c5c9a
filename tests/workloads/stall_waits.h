/*
 * stall_waits.h - the parts of stall_steps.h in which a loop waits: for time, a lock, a pipe, a child, a page, a
 * processor. Each waits for its argument, in milliseconds; wait_for_file and wait_for_mapping for a file of that
 * path, which is slow (slow_files).
 */
#ifndef ISOSCOPE_TESTS_STALL_WAITS_H
#define ISOSCOPE_TESTS_STALL_WAITS_H

enum { STATUS_NOT_HERE = 77 };

void wait_asleep(const char *ms);
void wait_for_lock(const char *ms); /* of thread "holder", which stands in hold_lock */
void wait_for_pipe(const char *ms);
void wait_for_child(const char *ms);
void wait_for_library(
    const char *ms); /* dlopen of slow_plugin.so, which computes in slow_constructor */
void wait_for_page(const char *ms); /* userfaultfd's */
void wait_for_processor(
    const char *ms); /* its CPU time, beside 32 spinning threads for each processor */
void wait_for_file(const char *path);
void wait_for_mapping(const char *path);

#endif
