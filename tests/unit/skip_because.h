/* skip_because.h - a unit test that cannot run here says why, and so does `./dev test`. */
#ifndef SKIP_BECAUSE_H
#define SKIP_BECAUSE_H

#include <stdio.h>

/* cmocka's skip() gives none. The name is the test's: to be called in it. */
#define skip_because(why)                                                                          \
    do {                                                                                           \
        printf("SKIPPED %s: %s\n", __func__, why);                                                 \
        fflush(stdout);                                                                            \
        skip();                                                                                    \
    } while (0)

#endif
