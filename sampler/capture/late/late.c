#include "late.h"

#include "late_calls.h"

#include "../../feed/sys.h"
#include "../modules/start_objects.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LIBRARIES_MAX = 4, LOOK_NS = 100 * 1000 };

/* late_<arch>.S: look, and jump on. */
void late_dlopen(void), late_dlsym(void), late_dlvsym(void);
const void *late_next_dlopen, *late_next_dlsym, *late_next_dlvsym;

static const struct {
    const char *name;
    void (*ours)(void);
    const void **next;
} loader_calls[] = {
    { "dlopen", late_dlopen, &late_next_dlopen },
    { "dlsym", late_dlsym, &late_next_dlsym },
    { "dlvsym", late_dlvsym, &late_next_dlvsym },
};

static _Atomic bool linked;
static _Atomic int32_t busy;  /* the process of who changes slots just now; 0: nobody does */
static _Atomic uint64_t seen; /* how many objects had ever come at the last look */
static uint64_t library_places[LIBRARIES_MAX];
static uint32_t library_count;

struct look {
    struct late_calls *calls;
    struct late_image image; /* the object at hand */
    bool unlinks;
    bool still;     /* no object has come since the table was filled */
    bool is_open;   /* its read-only pages are writable for now */
    bool is_closed; /* they cannot be made so, or it is just being loaded */
    uint64_t objects;
    struct late_count count;
};

/* ---- who is who ---- */

static bool holds(const struct late_image *image, uint64_t address)
{
    return address >= image->low && address < image->high;
}

static bool is_ours(const struct late_image *image)
{
    for (uint32_t i = 0; i < library_count; i++)
        if (holds(image, library_places[i]))
            return true;
    return false;
}

static bool is_program(const struct dl_phdr_info *object)
{
    return !object->dlpi_name || !object->dlpi_name[0];
}

/* A call goes to it for ever, so it may not go away. C++'s library has symbols that forbid that. */
static bool stays(const struct dl_phdr_info *object, const struct late_image *image)
{
    const char *slash = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;
    const char *name = slash ? slash + 1 : "";

    return start_objects_hold(image->low, image->high) || !strncmp(name, "libstdc++.so.", 13);
}

/* ---- the table ---- */

static int add_library(struct dl_phdr_info *object, size_t bytes, void *place)
{
    struct late_image image;

    (void)bytes;
    if (!late_image_of(&image, object) || !holds(&image, (uint64_t)place))
        return 0;
    late_calls_add_library(&image);
    return 1;
}

static void define(struct late_call *call, const struct dl_phdr_info *object,
                   const struct late_image *image)
{
    bool several;
    const void *function = late_image_function(image, call->name, &several);

    if (!function)
        return;
    if (!call->definitions++) {
        call->several = several;
        call->in_program = is_program(object);
        if (!call->in_program && stays(object, image))
            call->original = function;
    }
}

static int define_all(struct dl_phdr_info *object, size_t bytes, void *context)
{
    struct look *look = context;

    (void)bytes;
    look->objects = object->dlpi_adds;
    if (!late_image_of(&look->image, object) || is_ours(&look->image))
        return 0;
    for (uint32_t i = 0; i < look->calls->count; i++)
        define(&look->calls->list[i], object, &look->image);
    return 0;
}

/* The loader's order is that of the list. */
static void look_for_originals(struct look *look)
{
    for (uint32_t i = 0; i < look->calls->count; i++)
        look->calls->list[i].definitions = 0;
    dl_iterate_phdr(define_all, look);
    for (size_t i = 0; i < sizeof loader_calls / sizeof *loader_calls; i++) {
        const struct late_call *call = late_calls_find(loader_calls[i].name);

        *loader_calls[i].next = call ? call->original : NULL;
    }
}

bool late_begin(const void *const *libraries, uint32_t count)
{
    struct look look = { .calls = late_calls_begin() };

    if (!look.calls || count > LIBRARIES_MAX)
        return false;
    library_count = count;
    for (uint32_t i = 0; i < count; i++)
        library_places[i] = (uint64_t)libraries[i];
    for (uint32_t i = 0; i < count; i++)
        dl_iterate_phdr(add_library, (void *)libraries[i]);
    for (size_t i = 0; i < sizeof loader_calls / sizeof *loader_calls; i++)
        late_calls_add(loader_calls[i].name, (const void *)loader_calls[i].ours);
    look_for_originals(&look);
    return true;
}

bool late_is_programs(const char *name)
{
    const struct late_call *call = late_calls_find(name);

    return call && call->in_program;
}

/* ---- slots ---- */

/* The kernel adds 0 to a word there, which fails where nobody may write. */
static bool can_be_written(uint64_t address)
{
    static uint32_t nobody_waits;

    return sys_call6(SYS_futex, (long)&nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0,
                     (long)address, (long)FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static bool protect(const struct late_image *image, int protection)
{
    return sys_call3(SYS_mprotect, image->relro_low, image->relro_high - image->relro_low,
                     protection) == 0;
}

/* One whose pages are writable still is in the loader's hands: it comes next time. */
static bool reach(struct look *look, const uint64_t *slot)
{
    uint64_t at = (uint64_t)slot;

    if (at < look->image.relro_low || at >= look->image.relro_high || look->is_open)
        return true;
    if (look->is_closed)
        return false;
    look->is_open =
        !can_be_written(look->image.relro_low) && protect(&look->image, PROT_READ | PROT_WRITE);
    look->is_closed = !look->is_open;
    return look->is_open;
}

static bool is_unbound(const struct look *look, const struct late_call *call, uint64_t value,
                       bool lazily)
{
    return lazily && look->still && call->definitions == 1 && !call->several &&
           holds(&look->image, value);
}

static void visit(void *context, const char *name, uint64_t *slot, bool lazily)
{
    struct look *look = context;
    const struct late_call *call = late_calls_find(name);
    const void *original = call ? call->original : NULL;
    uint64_t value, wanted;

    if (!original)
        return;
    value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    wanted = (uint64_t)(look->unlinks ? original : call->ours);
    if (look->unlinks ? value != (uint64_t)call->ours
                      : value != (uint64_t)original && !is_unbound(look, call, value, lazily))
        return;
    if (reach(look, slot))
        look->count.linked += __atomic_compare_exchange_n(slot, &value, wanted, false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    else
        look->count.refused++;
}

static int visit_object(struct dl_phdr_info *object, size_t bytes, void *context)
{
    struct look *look = context;

    (void)bytes;
    if (!late_image_of(&look->image, object) || is_ours(&look->image) ||
        holds(&look->image, _r_debug.r_ldbase))
        return 0;
    look->still = object->dlpi_adds == look->objects;
    look->is_open = look->is_closed = false;
    late_image_slots(&look->image, visit, look);
    if (look->is_open)
        protect(&look->image, PROT_READ);
    return 0;
}

static void visit_all(struct look *look)
{
    look_for_originals(look);
    dl_iterate_phdr(visit_object, look);
    seen = look->objects;
}

/* A fork may have left somebody behind in the middle of it: that is no reason to wait. */
static bool try_alone(void)
{
    int32_t own = (int32_t)sys_call0(SYS_getpid), other = 0;

    return atomic_compare_exchange_strong(&busy, &other, own) ||
           (other != own && atomic_compare_exchange_strong(&busy, &other, own));
}

static void begin_alone(void)
{
    const struct timespec moment = { 0, LOOK_NS };

    while (!try_alone())
        sys_call2(SYS_nanosleep, &moment, 0);
}

static void end_alone(void)
{
    atomic_store(&busy, 0);
}

void late_link(struct late_count *out)
{
    struct look look = { .calls = late_calls_begin() };

    if (look.calls) {
        begin_alone();
        visit_all(&look);
        linked = true;
        end_alone();
    }
    *out = look.count;
}

void late_unlink(void)
{
    struct look look = { .calls = late_calls_begin(), .unlinks = true };

    if (!look.calls || !linked)
        return;
    begin_alone();
    linked = false;
    visit_all(&look);
    end_alone();
}

static int count_objects(struct dl_phdr_info *object, size_t bytes, void *out)
{
    (void)bytes;
    *(uint64_t *)out = object->dlpi_adds;
    return 1;
}

void late_look(void)
{
    struct look look = { .calls = late_calls_begin() };
    uint64_t objects = 0;

    if (!linked)
        return;
    dl_iterate_phdr(count_objects, &objects);
    if (objects == seen || !try_alone())
        return;
    if (linked)
        visit_all(&look);
    end_alone();
}
