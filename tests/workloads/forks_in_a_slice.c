/* forks_in_a_slice.c - forks in the middle of a slice, which both end, and crashes in another. */
#include <isoscope/optional.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    pid_t child;

    ISOSCOPE_BEGIN("API", "around the fork");
    child = fork();
    if (child == 0) {
        ISOSCOPE_END("API");
        ISOSCOPE_BEGIN("API", "in the child");
        ISOSCOPE_END("API");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    ISOSCOPE_END("API");
    ISOSCOPE_BEGIN("API", "open at the crash");
    abort();
}
