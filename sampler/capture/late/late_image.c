#include "late_image.h"

#include <string.h>
#include <sys/auxv.h>

#if defined(__x86_64__)
enum { BOUND_AT_CALL = R_X86_64_JUMP_SLOT, BOUND_AT_LOAD = R_X86_64_GLOB_DAT, PLAIN = R_X86_64_64 };
#elif defined(__aarch64__)
enum {
    BOUND_AT_CALL = R_AARCH64_JUMP_SLOT,
    BOUND_AT_LOAD = R_AARCH64_GLOB_DAT,
    PLAIN = R_AARCH64_ABS64
};
#endif

enum { OLDER_VERSION = 0x8000 };

/* The loader has made addresses of what the file says, where the section can be written. */
static const void *place(const struct late_image *image, uint64_t value)
{
    return (const void *)(value < image->bias ? value + image->bias : value);
}

static void read_segments(struct late_image *image, const struct dl_phdr_info *object)
{
    uint64_t page = getauxval(AT_PAGESZ);

    image->low = UINT64_MAX;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uint64_t low = image->bias + segment->p_vaddr, high = low + segment->p_memsz;

        if (segment->p_type == PT_DYNAMIC)
            image->dynamic = low;
        if (segment->p_type == PT_GNU_RELRO) {
            image->relro_low = low & ~(page - 1);
            image->relro_high = high & ~(page - 1);
        }
        if (segment->p_type != PT_LOAD)
            continue;
        image->low = low < image->low ? low : image->low;
        image->high = high > image->high ? high : image->high;
        if (segment->p_flags & PF_W && image->writable_count < LATE_SEGMENTS_MAX) {
            image->writable[image->writable_count].low = low;
            image->writable[image->writable_count++].high = high;
        }
    }
}

bool late_image_of(struct late_image *out, const struct dl_phdr_info *object)
{
    size_t bytes[2] = { 0 };

    memset(out, 0, sizeof *out);
    out->bias = object->dlpi_addr;
    read_segments(out, object);
    if (!out->dynamic)
        return false;
    for (const ElfW(Dyn) *entry = (const ElfW(Dyn) *)out->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SYMTAB)
            out->symbols = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            out->strings = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_VERSYM)
            out->versions = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            out->hash = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            out->old_hash = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_JMPREL)
            out->relocations[0].first = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_PLTRELSZ)
            bytes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            out->relocations[1].first = place(out, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            bytes[1] = entry->d_un.d_val;
    for (int i = 0; i < 2; i++)
        out->relocations[i].count = out->relocations[i].first ? bytes[i] / sizeof(ElfW(Rela)) : 0;
    return out->symbols && out->strings;
}

/* ---- what it defines ---- */

/* Of DT_GNU_HASH: words of the bloom filter, buckets, and a chain for each symbol from `first` on. */
struct chains {
    const uint32_t *buckets, *of; /* of[i]: symbol first + i's hash; its lowest bit ends a bucket */
    uint32_t count, first;
};

static struct chains chains_of(const uint32_t *hash)
{
    const uint32_t *buckets = hash + 4 + (size_t)hash[2] * (sizeof(ElfW(Addr)) / sizeof *hash);

    return (struct chains){ buckets, buckets + hash[0], hash[0], hash[1] };
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static bool is_function(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

struct found {
    const struct late_image *image;
    const char *name;
    const void *function;
    bool others;
};

static void look_at(struct found *found, uint32_t index)
{
    const struct late_image *image = found->image;
    const ElfW(Sym) *symbol = &image->symbols[index];

    if (!is_function(symbol) || strcmp(image->strings + symbol->st_name, found->name) != 0)
        return;
    if (image->versions && image->versions[index] & OLDER_VERSION)
        found->others |= found->function != (const void *)(image->bias + symbol->st_value);
    else
        found->function = (const void *)(image->bias + symbol->st_value);
}

static void look_by_hash(struct found *found)
{
    const struct chains chains = chains_of(found->image->hash);
    uint32_t hash = hash_of(found->name);
    uint32_t index = chains.count ? chains.buckets[hash % chains.count] : 0;

    if (index < chains.first || !index)
        return;
    for (;; index++) {
        uint32_t other = chains.of[index - chains.first];

        if ((other | 1) == (hash | 1))
            look_at(found, index);
        if (other & 1)
            return;
    }
}

const void *late_image_function(const struct late_image *image, const char *name, bool *others)
{
    struct found found = { image, name, NULL, false };

    if (image->hash)
        look_by_hash(&found);
    else if (image->old_hash)
        for (uint32_t index = 1; index < image->old_hash[1]; index++)
            look_at(&found, index);
    *others = found.others;
    return found.function;
}

void late_image_functions(const struct late_image *image, late_function_visit *visit, void *context)
{
    struct chains chains;

    if (!image->hash)
        return;
    chains = chains_of(image->hash);
    for (uint32_t i = 0; i < chains.count; i++)
        for (uint32_t index = chains.buckets[i]; index >= chains.first && index; index++) {
            const ElfW(Sym) *symbol = &image->symbols[index];

            if (is_function(symbol))
                visit(context, image->strings + symbol->st_name,
                      (const void *)(image->bias + symbol->st_value));
            if (chains.of[index - chains.first] & 1)
                break;
        }
}

/* ---- what it calls ---- */

/* Text that the loader has written into stays as it is. */
static bool is_writable(const struct late_image *image, uint64_t slot)
{
    for (uint32_t i = 0; i < image->writable_count; i++)
        if (slot >= image->writable[i].low && slot + sizeof(uint64_t) <= image->writable[i].high)
            return slot % sizeof(uint64_t) == 0;
    return false;
}

void late_image_slots(const struct late_image *image, late_slot_visit *visit, void *context)
{
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < image->relocations[i].count; j++) {
            const ElfW(Rela) *relocation = &image->relocations[i].first[j];
            uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
            uint64_t symbol = ELF64_R_SYM(relocation->r_info);
            uint64_t slot = image->bias + relocation->r_offset;

            if (symbol && !relocation->r_addend &&
                (type == BOUND_AT_CALL || type == BOUND_AT_LOAD || type == PLAIN) &&
                is_writable(image, slot))
                visit(context, image->strings + image->symbols[symbol].st_name, (uint64_t *)slot,
                      type == BOUND_AT_CALL);
        }
}
