/* execs LEFT: becomes itself again LEFT times, each time in the middle of the ticks. */
#include "torture.h"

int main(int argc, char **argv)
{
    char text[16];
    int left;

    begin();
    CHECK(argc == 2);
    left = atoi(argv[1]);
    spin(10);
    if (left == 0)
        return fine();
    snprintf(text, sizeof text, "%d", left - 1);
    execl("/proc/self/exe", argv[0], text, (char *)NULL);
    CHECK(!"exec");
}
