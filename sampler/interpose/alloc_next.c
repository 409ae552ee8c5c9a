#include "alloc_next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>

__thread struct isoscope_memory_thread isoscope_memory_thread;

char early_place[EARLY_BYTES] __attribute__((aligned(64)));
static _Atomic size_t early_used;
static __thread bool looking __attribute__((tls_model("initial-exec")));

/* A library that a module brings along privately is not in the program's scope. */
static void *find_in_runtimes(const char *name)
{
    static const char *const runtimes[] = { "libstdc++.so.6", "libc++.so.1" };
    void *found = NULL;

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && !found; i++) {
        void *library = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library) {
            found = dlsym(library, name);
            dlclose(library);
        }
    }
    return found;
}

void *next_call_find(const char *name)
{
    void *found;

    if (looking)
        return NULL;
    looking = true;
    found = isoscope_next_call(name);
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (!found && name[0] == '_' && name[1] == 'Z')
        found = find_in_runtimes(name);
    looking = false;
    return found;
}

void *early_take(size_t bytes, size_t align)
{
    size_t used = atomic_load(&early_used), at;

    if (align < 16)
        align = 16;
    if (bytes > EARLY_BYTES || align > EARLY_BYTES)
        return NULL;
    do {
        at = (used + align - 1) & ~(align - 1);
        if (at + bytes > EARLY_BYTES)
            return NULL;
    } while (!atomic_compare_exchange_weak(&early_used, &used, at + bytes));
    return early_place + at;
}

size_t early_bytes(const void *address)
{
    return EARLY_BYTES - (size_t)((const char *)address - early_place);
}

/* Of the object that has malloc. */
static uintptr_t allocator_begin;
static _Atomic uintptr_t allocator_end; /* 0: not known yet */

static int find_allocator(struct dl_phdr_info *object, size_t size, void *malloc_address)
{
    uintptr_t address = (uintptr_t)malloc_address, begin = UINTPTR_MAX, end = 0;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD)
            continue;
        begin = from < begin ? from : begin;
        end = from + header->p_memsz > end ? from + header->p_memsz : end;
    }
    if (address < begin || address >= end)
        return 0;
    allocator_begin = begin;
    atomic_store_explicit(&allocator_end, end, memory_order_release);
    return 1;
}

void next_calls_settle(void)
{
    dl_iterate_phdr(find_allocator, next_call_find("malloc"));
}

bool next_calls_are_of(const void *address)
{
    uintptr_t end = atomic_load_explicit(&allocator_end, memory_order_acquire);

    return (uintptr_t)address >= allocator_begin && (uintptr_t)address < end;
}
