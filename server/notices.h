/*
 * notices.h - what a user should be told about the sampling of a run, once.
 */
#ifndef ISOSCOPE_NOTICES_H
#define ISOSCOPE_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/*
 * Says when CPU-time timers are slower than what was asked, and why they tick alone. False while no
 * process has a timer yet: ask again later.
 */
bool notice_timer(struct profile *profile, uint32_t asked_us);

/* No process of the run ever said hello. */
void notice_no_hello(const char *program);

#endif
