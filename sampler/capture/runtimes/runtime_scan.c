#include "runtime_scan.h"

#include "cpython/cpython.h"
#include "cpython/cpython_gil.h"
#include "jvm/jvm.h"
#include "lua/lua.h"
#include "perl/perl.h"
#include "php/php.h"
#include "ruby/ruby.h"
#include "v8/v8.h"

#include "../system/arch.h"

#include <string.h>

/* The entry, once it is filled in. What the service wrote is bounded before it is believed. */
SIGNAL_SAFE_INLINE const struct feed_runtime *entry_at(const struct runtime_scan *scan,
                                                       uint32_t entry)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];

    return atomic_load_explicit(&runtime->ready, memory_order_acquire) ? runtime : NULL;
}

SIGNAL_SAFE_INLINE uint32_t ranges_of(const struct feed_runtime *runtime)
{
    return runtime->range_count < FEED_RUNTIME_RANGES_MAX ? runtime->range_count
                                                          : FEED_RUNTIME_RANGES_MAX;
}

bool runtime_scan_begin(struct runtime_scan *scan)
{
    scan->used = scan->wants & FEED_WANT_RUNTIMES ? runtimes_used(scan->writer) : 0;
    scan->low = UINT64_MAX;
    scan->high = 0;
    scan->lock = RUNTIME_LOCK_UNKNOWN;
    scan->task = 0;
    scan->waits_at = 0;
    scan->interrupted = NULL;
    memset(scan->cursors, 0, scan->used * sizeof scan->cursors[0]);
    for (uint32_t entry = 0; entry < scan->used; entry++) {
        const struct feed_runtime *runtime = entry_at(scan, entry);

        for (uint32_t range = 0; runtime && range < ranges_of(runtime); range++) {
            if (runtime->ranges[range].start < scan->low)
                scan->low = runtime->ranges[range].start;
            if (runtime->ranges[range].end > scan->high)
                scan->high = runtime->ranges[range].end;
        }
    }
    return scan->high != 0;
}

/* Its entry in the table, or scan->used. */
SIGNAL_SAFE_INLINE uint32_t entry_of(const struct runtime_scan *scan, uint64_t pc, bool outside)
{
    uint32_t anywhere = scan->used;

    if (pc < scan->low || pc >= scan->high)
        return scan->used;
    for (uint32_t entry = 0; entry < scan->used; entry++) {
        const struct feed_runtime *runtime = entry_at(scan, entry);

        for (uint32_t i = 0; runtime && i < ranges_of(runtime); i++) {
            const struct feed_runtime_range *range = &runtime->ranges[i];

            if (pc < range->start || pc >= range->end)
                continue;
            if (!range->outside)
                return entry;
            if (outside)
                anywhere = entry;
        }
    }
    return anywhere;
}

/* Each kind's walker. */
SIGNAL_SAFE_INLINE uint32_t frames_by_kind(struct runtime_scan *scan, uint32_t entry,
                                           const struct runtime_native *native)
{
    switch (scan->writer->runtimes[entry].kind) {
    case FEED_RUNTIME_JVM:
        return jvm_frames(scan, entry, native);
    case FEED_RUNTIME_V8:
        return v8_frames(scan, entry, native);
    case FEED_RUNTIME_CPYTHON:
        return cpython_frames(scan, entry, native);
    case FEED_RUNTIME_LUA:
        return lua_frames(scan, entry, native);
    case FEED_RUNTIME_PERL:
        return perl_frames(scan, entry, native);
    case FEED_RUNTIME_PHP:
        return php_frames(scan, entry, native);
    case FEED_RUNTIME_RUBY:
        return ruby_frames(scan, entry, native);
    default:
        return 0;
    }
}

/* Of kinds whose code frame pointers do not lead out of. */
SIGNAL_SAFE_INLINE bool step_by_kind(struct runtime_scan *scan, uint32_t entry,
                                     struct runtime_native *native)
{
    switch (scan->writer->runtimes[entry].kind) {
    case FEED_RUNTIME_JVM:
        return jvm_step(scan, entry, native);
    default:
        return false;
    }
}

uint32_t runtime_scan_frames(struct runtime_scan *scan, const struct runtime_native *native)
{
    uint32_t entry = entry_of(scan, native->pc, native->outside);

    scan->put = 0;
    return entry < scan->used ? frames_by_kind(scan, entry, native) : 0;
}

bool runtime_scan_step(struct runtime_scan *scan, struct runtime_native *native)
{
    uint64_t pc = native->pc - (native->context ? 0 : 1);
    uint32_t entry = entry_of(scan, pc, native->outside);

    return entry < scan->used && step_by_kind(scan, entry, native);
}

void runtime_scan_interrupted(struct runtime_scan *scan, const ucontext_t *context)
{
    scan->interrupted = context;
#ifdef __x86_64__ /* elsewhere the result of a call stands where its first argument was */
    enum { FIRST_ARGUMENT = 5 /* rdi */ };
    uint8_t code[ARCH_SYSCALL_BYTES];

    if (scan->wants & FEED_WANT_GIL &&
        guarded_read(&scan->memory, code, arch_pc(context) - sizeof code, sizeof code) &&
        arch_is_syscall(code))
        scan->waits_at = arch_register(context, FIRST_ARGUMENT);
#endif
}

void runtime_scan_end(struct runtime_scan *scan)
{
    if (!(scan->wants & FEED_WANT_GIL))
        return;
    for (uint32_t entry = 0; entry < scan->used && scan->lock == RUNTIME_LOCK_UNKNOWN; entry++) {
        const struct feed_runtime *runtime = entry_at(scan, entry);

        if (runtime && runtime->kind == FEED_RUNTIME_CPYTHON)
            cpython_gil(scan, entry);
    }
}
