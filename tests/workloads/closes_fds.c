/*
 * closes_fds [CPU_SECONDS] - closes every descriptor above stderr, as daemons do, and again while
 * it works; each file it opens must get the lowest free number, and still be its own afterwards.
 */
#include "burn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS = 20 };

void spin_without_descriptors(struct burn *burn, double until);

__attribute__((noinline)) void spin_without_descriptors(struct burn *burn, double until)
{
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < until) {
        for (int i = 0; i < 100; i++)
            burn_rounds(burn, burn_draw(burn));
    }
}

static int is_dev_null(int fd)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && stat("/dev/null", &named) == 0 &&
           opened.st_rdev == named.st_rdev;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    struct burn burn = { .state = 88172645463325252u };

    for (int look = 1; look <= LOOKS; look++) {
        int first, second;

        closefrom(3);
        first = open("/dev/null", O_RDONLY);
        second = open("/dev/null", O_RDONLY);
        spin_without_descriptors(&burn, seconds * look / LOOKS);
        if (first != 3 || second != 4 || !is_dev_null(first) || !is_dev_null(second)) {
            printf("look %d: descriptors %d and %d are not mine\n", look, first, second);
            return 1;
        }
    }
    printf("%d times, 3 and 4 were mine%s\n", LOOKS, burn.state ? "" : "!");
    return 0;
}
