#include "push_facts.h"

#include "../../sampler/profile/symbols/files/elf_file.h"
#include "../../sampler/profile/symbols/files/root.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, FILE_BYTES = 256 * 1024 };

static size_t digits_at(const char *text)
{
    size_t count = 0;

    while (isdigit((unsigned char)text[count]) || (text[count] >= 'a' && text[count] <= 'f'))
        count++;
    return count;
}

/* docker-<id>.scope, cri-containerd-<id>.scope, /docker/<id>, /kubepods/.../<id>, libpod-<id>. */
static void find_id(const char *text, size_t length, char out[PUSH_ID_BYTES])
{
    for (size_t at = 0; at < length;) {
        size_t digits = digits_at(text + at);

        if (digits == ID_DIGITS && (!at || !isalnum((unsigned char)text[at - 1])) &&
            !isalnum((unsigned char)text[at + digits]))
            snprintf(out, PUSH_ID_BYTES, "%.*s", ID_DIGITS, text + at);
        at += digits ? digits : 1;
    }
}

void push_container_in(const char *text, char out[PUSH_ID_BYTES])
{
    out[0] = '\0';
    find_id(text, strlen(text), out);
}

void push_container_in_mounts(const char *text, char out[PUSH_ID_BYTES])
{
    out[0] = '\0';
    while (*text && !out[0]) {
        size_t length = strcspn(text, "\n");

        if (memmem(text, length, " /etc/hostname ", 15))
            find_id(text, length, out);
        text += length + (text[length] == '\n');
    }
}

static void read_id(int pid, const char *name, void (*find)(const char *text, char *out), char *out)
{
    char path[64], *text = malloc(FILE_BYTES);
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    file = text ? fopen(path, "re") : NULL;
    if (file) {
        length = fread(text, 1, FILE_BYTES - 1, file);
        fclose(file);
        text[length] = '\0';
        find(text, out);
    }
    free(text);
}

/* A container that has a tree of groups for itself does not see its own name there. */
void push_container_of(int pid, char out[PUSH_ID_BYTES])
{
    out[0] = '\0';
    read_id(pid, "cgroup", push_container_in, out);
    if (!out[0])
        read_id(pid, "mountinfo", push_container_in_mounts, out);
}

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
