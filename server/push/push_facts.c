#include "push_facts.h"

#include "../../sampler/profile/symbols/files/elf_file.h"
#include "../../sampler/profile/symbols/files/root.h"

#include <stdio.h>

void push_build_of(int pid, char out[PUSH_ID_BYTES])
{
    uint8_t build_id[FEED_BUILD_ID_MAX];
    const char *reason;
    struct elf_file *file;
    uint32_t count;
    char path[64];

    out[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    file = elf_file_open(ROOT_OURS, path, &reason);
    count = file ? elf_file_build_id(file, build_id) : 0;
    for (uint32_t i = 0; i < count && 2 * i + 3 <= PUSH_ID_BYTES; i++)
        snprintf(out + (size_t)2 * i, 3, "%02x", build_id[i]);
    elf_file_close(file);
}
