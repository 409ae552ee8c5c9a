#include "own_path.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void own_path_tell(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return;
    path[length] = '\0';
    setenv("ISOSCOPE_COMMAND", path, 0);
}
