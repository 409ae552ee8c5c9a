#include "methods.h"

#include <string.h>

const struct method *method_find(const char *name)
{
    for (size_t i = 0; i < method_count; i++)
        if (!strcmp(methods[i].name, name))
            return &methods[i];
    return NULL;
}
