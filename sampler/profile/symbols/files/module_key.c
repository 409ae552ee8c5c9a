#include "module_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the kernel says of the file, as the process sees it. Nothing (a deleted file, or one without
 * a name): it is this process's own. */
static void identify(const struct module_file *module, struct module_key *out)
{
    char path[64 + sizeof("/proc//root")];
    struct stat file;
    uint64_t words[5] = { 0 };
    char *whole = NULL;

    snprintf(path, sizeof(path), "/proc/%d/root", module->pid);
    if (module->path[0] == '/' && asprintf(&whole, "%s%s", path, module->path) >= 0 &&
        stat(whole, &file) == 0) {
        words[0] = file.st_dev;
        words[1] = file.st_ino;
        words[2] = (uint64_t)file.st_size;
        words[3] = (uint64_t)file.st_mtim.tv_sec;
        words[4] = (uint64_t)file.st_mtim.tv_nsec;
    } else {
        words[0] = UINT64_MAX;
        words[1] = (uint64_t)module->pid;
        words[2] = module->address;
    }
    free(whole);
    memcpy(out->bytes, words, sizeof(words));
}

struct module_key module_key_of(const struct module_file *module)
{
    struct module_key key = { { 0 } };

    if (module->build_id_bytes) {
        memcpy(key.bytes, module->build_id, module->build_id_bytes);
        key.bytes[sizeof(key.bytes) - 1] = (uint8_t)module->build_id_bytes;
    } else {
        identify(module, &key);
    }
    return key;
}

/* FNV-1a. */
uint64_t module_key_hash(const struct module_key *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < sizeof(key->bytes); i++)
        hash = (hash ^ key->bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}
