#include "../runtimes.h"

#include "../../feed/layout.h"

#include <string.h>

uint32_t runtime_of(const char *module_path)
{
#define BEGINNING(name, word, beginning, advice) [RUNTIME_##name] = beginning,
    static const char *const beginnings[] = { RUNTIMES(BEGINNING) };
#undef BEGINNING
    const char *slash = strrchr(module_path, '/'), *name = slash ? slash + 1 : module_path;

    for (uint32_t runtime = 0; runtime < RUNTIME_COUNT; runtime++)
        if (!strncmp(name, beginnings[runtime], strlen(beginnings[runtime])))
            return 1u << runtime;
    return 0;
}

uint32_t runtimes_of_kinds(uint32_t kinds)
{
    return kinds & 1u << FEED_RUNTIME_JVM ? 1u << RUNTIME_JAVA : 0;
}
