/*
 * optional.h - isoscope.h for a program that must also build and run where isoscope is not.
 *
 * Include it in place of isoscope.h, and link nothing: the calls have the same names. They go to
 * the library where it is preloaded (`isoscope run -- PROGRAM`) or linked, and else do nothing:
 * those that return an error say -ISOSCOPE_NO_SERVICE. So one binary serves with and without. In a
 * statically linked program they always do nothing.
 *
 * This file, isoscope.h, event.h and loop.h are all it takes: they may be copied into the program's own sources.
 * A source file that includes isoscope.h alone calls the library itself, and needs it linked.
 */
#ifndef ISOSCOPE_OPTIONAL_H
#define ISOSCOPE_OPTIONAL_H

#include "isoscope.h"

/*
 * The library's function of that name, or NULL. Where code has its place fixed at link time
 * (-no-pie), linkers for x86-64 make a weak name that nothing defines 0 for good; what is read
 * from the global offset table stays open until the program starts.
 */
#if defined(__x86_64__) && defined(__LP64__)
#define ISOSCOPE_IF_LOADED(name)                                                                   \
    __extension__({                                                                                \
        __typeof__(&name) isoscope_found;                                                          \
        __asm__(".weak " #name "\n\t{movq " #name "@GOTPCREL(%%rip), %0"                           \
                "|mov %0, QWORD PTR " #name "@GOTPCREL[rip]}"                                      \
                : "=r"(isoscope_found));                                                           \
        isoscope_found;                                                                            \
    })
#else
#pragma weak isoscope_start
#pragma weak isoscope_stop
#pragma weak isoscope_strerror
#pragma weak isoscope_set_period
#pragma weak isoscope_thread_register
#pragma weak isoscope_thread_unregister
#pragma weak isoscope_sample_count
#pragma weak isoscope_tag_push
#pragma weak isoscope_tag_pop
#pragma weak isoscope_code_register
#pragma weak isoscope_code_unregister
#pragma weak isoscope_frame_provider_register
#pragma weak isoscope_frame_provider_unregister
#pragma weak isoscope_code_provider_register
#pragma weak isoscope_streams
#pragma weak isoscope_event_begin
#pragma weak isoscope_event_end
#pragma weak isoscope_event_tell
#pragma weak isoscope_event_frame
#pragma weak isoscope_event_leave
#pragma weak isoscope_event_now_ns
#pragma weak isoscope_loop_register
#pragma weak isoscope_loop_unregister
#pragma weak isoscope_loop_begin
#pragma weak isoscope_loop_end
#pragma weak isoscope_loop_idle_enter
#pragma weak isoscope_loop_idle_leave
#pragma weak isoscope_loop_progress
#pragma weak isoscope_loop_set_ping
#define ISOSCOPE_IF_LOADED(name) (&name)
#endif

static inline int isoscope_optional_start(const struct isoscope_options *options)
{
    __typeof__(&isoscope_start) call = ISOSCOPE_IF_LOADED(isoscope_start);

    return call ? call(options) : -ISOSCOPE_NO_SERVICE;
}

static inline void isoscope_optional_stop(void)
{
    __typeof__(&isoscope_stop) call = ISOSCOPE_IF_LOADED(isoscope_stop);

    if (call)
        call();
}

static inline const char *isoscope_optional_strerror(int error)
{
    __typeof__(&isoscope_strerror) call = ISOSCOPE_IF_LOADED(isoscope_strerror);

    return call ? call(error) : "isoscope is not in this process";
}

static inline int isoscope_optional_set_period(uint32_t period_us)
{
    __typeof__(&isoscope_set_period) call = ISOSCOPE_IF_LOADED(isoscope_set_period);

    return call ? call(period_us) : -ISOSCOPE_NO_SERVICE;
}

static inline int isoscope_optional_thread_register(const char *name)
{
    __typeof__(&isoscope_thread_register) call = ISOSCOPE_IF_LOADED(isoscope_thread_register);

    return call ? call(name) : -ISOSCOPE_NO_SERVICE;
}

static inline void isoscope_optional_thread_unregister(void)
{
    __typeof__(&isoscope_thread_unregister) call = ISOSCOPE_IF_LOADED(isoscope_thread_unregister);

    if (call)
        call();
}

static inline uint64_t isoscope_optional_sample_count(void)
{
    __typeof__(&isoscope_sample_count) call = ISOSCOPE_IF_LOADED(isoscope_sample_count);

    return call ? call() : 0;
}

static inline void isoscope_optional_tag_push(const char *tag)
{
    __typeof__(&isoscope_tag_push) call = ISOSCOPE_IF_LOADED(isoscope_tag_push);

    if (call)
        call(tag);
}

static inline void isoscope_optional_tag_pop(void)
{
    __typeof__(&isoscope_tag_pop) call = ISOSCOPE_IF_LOADED(isoscope_tag_pop);

    if (call)
        call();
}

static inline int isoscope_optional_code_register(const void *start, size_t size, const char *name)
{
    __typeof__(&isoscope_code_register) call = ISOSCOPE_IF_LOADED(isoscope_code_register);

    return call ? call(start, size, name) : -ISOSCOPE_NO_SERVICE;
}

static inline int isoscope_optional_code_unregister(const void *start)
{
    __typeof__(&isoscope_code_unregister) call = ISOSCOPE_IF_LOADED(isoscope_code_unregister);

    return call ? call(start) : -ISOSCOPE_NO_SERVICE;
}

static inline int isoscope_optional_frame_provider_register(const void *start, size_t size,
                                                            isoscope_frame_provider provider,
                                                            void *context)
{
    __typeof__(&isoscope_frame_provider_register) call =
        ISOSCOPE_IF_LOADED(isoscope_frame_provider_register);

    return call ? call(start, size, provider, context) : -ISOSCOPE_NO_SERVICE;
}

static inline int isoscope_optional_code_provider_register(const void *start, size_t size,
                                                           isoscope_code_provider provider,
                                                           isoscope_code_describe describe,
                                                           void *context)
{
    __typeof__(&isoscope_code_provider_register) call =
        ISOSCOPE_IF_LOADED(isoscope_code_provider_register);

    return call ? call(start, size, provider, describe, context) : -ISOSCOPE_NO_SERVICE;
}

static inline int isoscope_optional_frame_provider_unregister(const void *start)
{
    __typeof__(&isoscope_frame_provider_unregister) call =
        ISOSCOPE_IF_LOADED(isoscope_frame_provider_unregister);

    return call ? call(start) : -ISOSCOPE_NO_SERVICE;
}

static inline uint64_t isoscope_optional_streams(void)
{
    uint64_t *streams = ISOSCOPE_IF_LOADED(isoscope_streams);

    return streams ? __atomic_load_n(streams, __ATOMIC_RELAXED) : 0;
}

static inline void isoscope_optional_event_begin(struct isoscope_site *site,
                                                 const struct isoscope_argument *arguments,
                                                 uint32_t count)
{
    __typeof__(&isoscope_event_begin) call = ISOSCOPE_IF_LOADED(isoscope_event_begin);

    if (call)
        call(site, arguments, count);
}

static inline void isoscope_optional_event_end(struct isoscope_site *site)
{
    __typeof__(&isoscope_event_end) call = ISOSCOPE_IF_LOADED(isoscope_event_end);

    if (call)
        call(site);
}

static inline void isoscope_optional_event_tell(struct isoscope_site *site,
                                                const struct isoscope_event *event)
{
    __typeof__(&isoscope_event_tell) call = ISOSCOPE_IF_LOADED(isoscope_event_tell);

    if (call)
        call(site, event);
}

static inline void isoscope_optional_event_frame(const struct isoscope_frame *frame)
{
    __typeof__(&isoscope_event_frame) call = ISOSCOPE_IF_LOADED(isoscope_event_frame);

    if (call)
        call(frame);
}

static inline void isoscope_optional_event_leave(struct isoscope_site **site)
{
    if (*site)
        isoscope_optional_event_end(*site);
}

static inline uint64_t isoscope_optional_event_now_ns(void)
{
    __typeof__(&isoscope_event_now_ns) call = ISOSCOPE_IF_LOADED(isoscope_event_now_ns);

    return call ? call() : 0;
}

static inline struct isoscope_loop *
isoscope_optional_loop_register(const char *name, const struct isoscope_loop_options *options)
{
    __typeof__(&isoscope_loop_register) call = ISOSCOPE_IF_LOADED(isoscope_loop_register);

    return call ? call(name, options) : NULL;
}

static inline void isoscope_optional_loop_unregister(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_unregister) call = ISOSCOPE_IF_LOADED(isoscope_loop_unregister);

    if (call)
        call(loop);
}

static inline void isoscope_optional_loop_begin(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_begin) call = ISOSCOPE_IF_LOADED(isoscope_loop_begin);

    if (call)
        call(loop);
}

static inline void isoscope_optional_loop_end(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_end) call = ISOSCOPE_IF_LOADED(isoscope_loop_end);

    if (call)
        call(loop);
}

static inline void isoscope_optional_loop_idle_enter(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_idle_enter) call = ISOSCOPE_IF_LOADED(isoscope_loop_idle_enter);

    if (call)
        call(loop);
}

static inline void isoscope_optional_loop_idle_leave(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_idle_leave) call = ISOSCOPE_IF_LOADED(isoscope_loop_idle_leave);

    if (call)
        call(loop);
}

static inline void isoscope_optional_loop_progress(struct isoscope_loop *loop)
{
    __typeof__(&isoscope_loop_progress) call = ISOSCOPE_IF_LOADED(isoscope_loop_progress);

    if (call)
        call(loop);
}

static inline int isoscope_optional_loop_set_ping(struct isoscope_loop *loop,
                                                  int (*post)(void (*run)(void *argument),
                                                              void *argument, void *context),
                                                  void *context)
{
    __typeof__(&isoscope_loop_set_ping) call = ISOSCOPE_IF_LOADED(isoscope_loop_set_ping);

    return call ? call(loop, post, context) : -ISOSCOPE_NO_SERVICE;
}

#undef ISOSCOPE_IF_LOADED
#undef ISOSCOPE_STREAMS_ON
#define ISOSCOPE_STREAMS_ON isoscope_optional_streams()

#define isoscope_start                     isoscope_optional_start
#define isoscope_stop                      isoscope_optional_stop
#define isoscope_strerror                  isoscope_optional_strerror
#define isoscope_set_period                isoscope_optional_set_period
#define isoscope_thread_register           isoscope_optional_thread_register
#define isoscope_thread_unregister         isoscope_optional_thread_unregister
#define isoscope_sample_count              isoscope_optional_sample_count
#define isoscope_tag_push                  isoscope_optional_tag_push
#define isoscope_tag_pop                   isoscope_optional_tag_pop
#define isoscope_code_register             isoscope_optional_code_register
#define isoscope_code_unregister           isoscope_optional_code_unregister
#define isoscope_frame_provider_register   isoscope_optional_frame_provider_register
#define isoscope_frame_provider_unregister isoscope_optional_frame_provider_unregister
#define isoscope_code_provider_register    isoscope_optional_code_provider_register
#define isoscope_code_provider_register    isoscope_optional_code_provider_register
#define isoscope_event_begin               isoscope_optional_event_begin
#define isoscope_event_end                 isoscope_optional_event_end
#define isoscope_event_tell                isoscope_optional_event_tell
#define isoscope_event_frame               isoscope_optional_event_frame
#define isoscope_event_leave               isoscope_optional_event_leave
#define isoscope_event_now_ns              isoscope_optional_event_now_ns
#define isoscope_loop_register             isoscope_optional_loop_register
#define isoscope_loop_unregister           isoscope_optional_loop_unregister
#define isoscope_loop_begin                isoscope_optional_loop_begin
#define isoscope_loop_end                  isoscope_optional_loop_end
#define isoscope_loop_idle_enter           isoscope_optional_loop_idle_enter
#define isoscope_loop_idle_leave           isoscope_optional_loop_idle_leave
#define isoscope_loop_progress             isoscope_optional_loop_progress
#define isoscope_loop_set_ping             isoscope_optional_loop_set_ping

#endif
