#include "windows.h"

#include "client.h"
#include "saved.h"

/* What lies beyond the clock is cut off, not wrapped around. */
struct snapshot_window window_between(int64_t origin_us, int64_t extent_us)
{
    struct snapshot_window window = { .bounded = true,
                                      .origin_us = origin_us,
                                      .extent_us = extent_us };
    int64_t end;

    if (__builtin_add_overflow(origin_us, extent_us, &end))
        window.extent_us = extent_us > 0 ? INT64_MAX - origin_us : 0;
    return window;
}

struct snapshot_window window_if_given(int64_t origin_us, int64_t extent_us)
{
    if (origin_us == -1 || extent_us == -1)
        return (struct snapshot_window){ 0 };
    return window_between(origin_us, extent_us);
}

struct told_window told_window(const struct service *service, int64_t origin_us, int64_t extent_us)
{
    int64_t now_us = service_now_us(service);
    int64_t from_us = origin_us < 0 ? isolates_start_us(&service->isolates, now_us) : origin_us;
    int64_t until_now_us = now_us > from_us ? now_us - from_us : 0;

    return (struct told_window){ from_us, extent_us >= 0 ? extent_us : until_now_us };
}
