/* An LD_AUDIT library that only listens. */
#include "torture.h"

#include <link.h>

__attribute__((visibility("default"))) unsigned int la_version(unsigned int version);

unsigned int la_version(unsigned int version)
{
    return version;
}
