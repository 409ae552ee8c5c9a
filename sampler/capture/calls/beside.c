#include "beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Of those that are preloaded with ours. */
extern uint8_t isoscope_alloc_filter[] __attribute__((weak));
extern char isoscope_lock_calls __attribute__((weak));

static uint8_t *late_filter;
static const void *late_lock_calls;

uint8_t *beside_alloc_filter(void)
{
    return isoscope_alloc_filter ? isoscope_alloc_filter : late_filter;
}

const void *beside_lock_calls(void)
{
    return &isoscope_lock_calls ? &isoscope_lock_calls : late_lock_calls;
}

/* What the library exports by that name; NULL: it cannot be loaded. */
static void *load(const char *library, const char *name)
{
    char path[PATH_MAX];
    const char *slash;
    Dl_info ours;
    void *handle = NULL;

    if (dladdr(&late_filter, &ours) && (slash = strrchr(ours.dli_fname, '/'))) {
        int folder = (int)(slash - ours.dli_fname);

        if (snprintf(path, sizeof path, "%.*s/%s", folder, ours.dli_fname, library) < PATH_MAX)
            handle = dlopen(path, RTLD_NOW); /* it stays: -z nodelete */
    }
    return handle ? dlsym(handle, name) : NULL;
}

bool beside_load_alloc(void)
{
    if (!beside_alloc_filter())
        late_filter = load("libisoscope_alloc.so", "isoscope_alloc_filter");
    return beside_alloc_filter() != NULL;
}

bool beside_load_lock(void)
{
    if (!beside_lock_calls())
        late_lock_calls = load("libisoscope_lock.so", "isoscope_lock_calls");
    return beside_lock_calls() != NULL;
}
