/*
 * isoscope.h - the sampler inside a program: what a program may call.
 *
 * Nobody has to: `isoscope run -- PROGRAM` preloads the same library and starts it. A program
 * that links libisoscope decides itself when sampling starts and ends.
 *
 * Errors     0 or a negative isoscope_error; isoscope_strerror gives the sentence.
 * Threads    Every call may come from any thread; none may come from a signal handler.
 */
#ifndef ISOSCOPE_ISOSCOPE_H
#define ISOSCOPE_ISOSCOPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOSCOPE_API __attribute__((visibility("default")))

#define ISOSCOPE_ERRORS(X)                                                                         \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(INVALID, "an argument is out of its range")                                                  \
    X(NO_SERVICE, "no service answers at the feed's socket")                                       \
    X(REFUSED, "the service refused the feed")                                                     \
    X(BAD_FEED, "the feed's memory is not what it should be")                                      \
    X(TIMER, "the kernel refused a sampling timer")                                                \
    X(SYSTEM, "a system call failed")                                                              \
    X(NOT_FOUND, "there is no such thing")                                                         \
    X(PENDING, "not ready yet: ask again when told of a change")                                   \
    X(SECURE, "the program runs with other rights than its user: isoscope stays out")

#define ISOSCOPE_ENUM_ERROR(name, text) ISOSCOPE_##name,
enum isoscope_error { ISOSCOPE_OK, ISOSCOPE_ERRORS(ISOSCOPE_ENUM_ERROR) ISOSCOPE_ERROR_COUNT };
#undef ISOSCOPE_ENUM_ERROR

struct isoscope_options {
    uint32_t struct_size; /* sizeof(struct isoscope_options) */
    uint32_t period_us;   /* CPU time between two ticks of a thread, 50 to 1,000,000; 0: 1000 */
    const char *socket;   /* the service's feed socket; NULL: $ISOSCOPE_SOCKET */
};

/*
 * Starts sampling every thread of this process for the service at the socket.
 * options may be NULL. Calling it again while it runs changes nothing and returns 0.
 */
ISOSCOPE_API int isoscope_start(const struct isoscope_options *options);

/* Ends sampling, says goodbye to the service and takes the timers and tables away. */
ISOSCOPE_API void isoscope_stop(void);

/* error: what a call returned (0, or negative). Never NULL; static memory. */
ISOSCOPE_API const char *isoscope_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
