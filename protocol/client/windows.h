/*
 * windows.h - spans of time as requests give them.
 */
#ifndef ISOSCOPE_WINDOWS_H
#define ISOSCOPE_WINDOWS_H

#include "../../sampler/profile/snapshot.h"

struct service;

/* Both ends belong to it. */
struct snapshot_window window_between(int64_t origin_us, int64_t extent_us);

/* The same, where both ends are given; typed clients send -1 for one that is not. Else: all. */
struct snapshot_window window_if_given(int64_t origin_us, int64_t extent_us);

/* Of the timeline: -1 is not given, which means from when the first process came up, or until now.
 */
struct told_window {
    int64_t origin_us, extent_us;
};
struct told_window told_window(const struct service *service, int64_t origin_us, int64_t extent_us);

#endif
