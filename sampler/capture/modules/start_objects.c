#include "start_objects.h"

#include "../system/glibc.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

enum { OBJECTS_MAX = 512 };

static uint64_t dynamics[OBJECTS_MAX]; /* where their dynamic sections lie */
static uint32_t count;

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* glibc has added the load address to what the file says, other libcs have not. */
static const char *strings_of(const struct link_map *object)
{
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            return (const char *)entry->d_un.d_ptr +
                   (entry->d_un.d_ptr < object->l_addr ? object->l_addr : 0);
    return NULL;
}

static bool needs(const struct link_map *object, const char *name)
{
    const char *strings = NULL;

    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED)
            continue;
        if (!strings && !(strings = strings_of(object)))
            return false;
        if (!strcmp(file_name(strings + entry->d_un.d_val), name))
            return true;
    }
    return false;
}

static bool is_needed(const struct link_map *object)
{
    const char *name = file_name(object->l_name);

    for (const struct link_map *other = _r_debug.r_map; other != object; other = other->l_next)
        if (start_objects_hold((uint64_t)other->l_ld, (uint64_t)other->l_ld + 1) &&
            needs(other, name))
            return true;
    return false;
}

/* Its linker writes one, alone in a segment. */
static bool has_go_note(uint64_t bias)
{
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)getauxval(AT_PHDR);

    for (unsigned long i = getauxval(AT_PHNUM); segment && i; i--, segment++) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(bias + segment->p_vaddr);

        if (segment->p_type == PT_NOTE && segment->p_memsz >= sizeof(*note) + 4 &&
            note->n_namesz == 4 && !memcmp(note + 1, "Go\0", 4))
            return true;
    }
    return false;
}

bool start_objects_are_go_alone(void)
{
    const struct link_map *program = _r_debug.r_map;

    for (const ElfW(Dyn) *entry = program->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED)
            return false;
    return has_go_note(program->l_addr);
}

void start_objects_note(void)
{
    bool after_loader = false;

    dynamics[0] = (uint64_t)_r_debug.r_map->l_ld; /* a page that is read first is fetched twice */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (count)
        return;
    for (const struct link_map *object = _r_debug.r_map; object && count < OBJECTS_MAX;
         object = object->l_next) {
        if (!after_loader || is_needed(object))
            dynamics[count++] = (uint64_t)object->l_ld;
        after_loader |= object->l_addr == _r_debug.r_ldbase;
    }
}

bool start_objects_hold(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < count; i++)
        if (dynamics[i] >= start && dynamics[i] < end)
            return true;
    return false;
}
