#include "own_malloc.h"

#include "beside.h"

#include "../late/late.h"
#include "../late/late_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* musl, whose loader may be asked to preload us before we can step aside, has none. */
extern __typeof(dladdr1) dladdr1 __attribute__((weak));

bool program_has_own_malloc(void)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info ours, found;

    if (late_is_programs("malloc"))
        return true;
    if (late_calls_find("malloc") || !beside_alloc_filter() || !dladdr1 ||
        !dladdr(beside_alloc_filter(), &ours) ||
        !dladdr1((void *)malloc, &found, (void **)&symbol, RTLD_DL_SYMENT))
        return false;
    /* A program at a fixed address that only takes malloc's address has a stub for it, which is no definition. */
    return found.dli_fbase != ours.dli_fbase && symbol && symbol->st_shndx != SHN_UNDEF;
}
