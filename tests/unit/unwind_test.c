/* The unwinder on this very process: glibc's own unwinder, in the same place, is the judge. */
#include "sampler/capture/modules/modules.h"
#include "sampler/capture/unwind/unwind.h"

#include "own_tables.h"
#include "skip_because.h"

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

enum { DEPTH = 200 };

static struct modules modules;
static struct feed_writer writer;
static struct named_code named = { .writer = &writer };
static struct frame_providers providers;

struct stacks {
    uint64_t ours[DEPTH];
    void *theirs[DEPTH];
    uint32_t ours_count, theirs_count;
    enum feed_end end;
};

static struct stacks found;
static struct outer_frames outer_frames;

/* The sanitizers put a function of their own before backtrace. */
__attribute__((always_inline)) static inline uint32_t take_theirs(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    enum { IN_BETWEEN = 1 };
#else
    enum { IN_BETWEEN = 0 };
#endif
    uint32_t count = (uint32_t)backtrace(found.theirs, DEPTH) - IN_BETWEEN;

    memmove(found.theirs, found.theirs + IN_BETWEEN, count * sizeof found.theirs[0]);
    return count;
}

static struct stack_range own_stack(void)
{
    struct stack_range range = { 0 };
    pthread_attr_t attr;
    void *low;
    size_t bytes;

    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstack(&attr, &low, &bytes), 0);
    pthread_attr_destroy(&attr);
    range.low = (uint64_t)low;
    range.high = range.low + bytes;
    return range;
}

/* Both stacks at one place; a handler gives the context it got. */
static void take(const ucontext_t *context, const struct stack_range *range)
{
    uint32_t group;
    const struct code_map *map = code_map_enter(&modules.maps, &group);

    const struct unwind_request request = { .map = map,
                                            .stack = range,
                                            .outer_frames = &outer_frames,
                                            .context = context,
                                            .frames_max = DEPTH,
                                            .named = &named,
                                            .providers = &providers };
    struct unwind_result result;

    unwind(&request, found.ours, &result);
    found.ours_count = result.depth;
    found.end = result.end;
    code_map_leave(&modules.maps, group);
}

static uint64_t runtime_pc(uint64_t frame)
{
    const struct code_map *map = atomic_load(&modules.maps.current);

    for (uint32_t i = 0; i < map->count; i++)
        if (map->ranges[i].number == FEED_FRAME_MODULE(frame))
            return FEED_FRAME_OFFSET(frame) + map->ranges[i].bias;
    return FEED_FRAME_OFFSET(frame);
}

/* From the caller of take's caller on: the innermost frames stand at different instructions. */
static void assert_same_callers(uint32_t skip_ours, uint32_t skip_theirs)
{
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_int_equal(found.ours_count - skip_ours, found.theirs_count - skip_theirs);
    for (uint32_t i = 0; i + skip_ours < found.ours_count; i++)
        assert_int_equal(runtime_pc(found.ours[i + skip_ours]) + 1,
                         (uint64_t)found.theirs[i + skip_theirs]);
}

__attribute__((noinline)) static void take_here(void)
{
    struct stack_range range = own_stack();
    ucontext_t context;

    getcontext(&context);
    take(&context, &range);
    found.theirs_count = take_theirs();
}

static void plain_frames_are_those_of_libc(void **state)
{
    (void)state;
    take_here();
    assert_same_callers(1, 1);
}

static int compare_and_take(const void *a, const void *b)
{
    if (!found.ours_count)
        take_here();
    return *(const int *)a - *(const int *)b;
}

static void frames_of_a_library_without_frame_pointers_are_walked(void **state)
{
    int numbers[3] = { 3, 1, 2 };

    (void)state;
    qsort(numbers, 3, sizeof numbers[0], compare_and_take);
    assert_same_callers(1, 1);
    assert_true(found.ours_count > 4);
}

__attribute__((noinline)) static uint64_t recurse(int depth, uint64_t sum)
{
    volatile char room[64];

    room[depth % 64] = (char)depth;
    if (depth == 0)
        take_here();
    else
        sum += recurse(depth - 1, sum) + (uint64_t)room[depth % 64];
    return sum;
}

static void a_deep_stack_is_whole(void **state)
{
    (void)state;
    recurse(100, 1);
    assert_same_callers(1, 1);
    assert_true(found.ours_count > 100);
}

static void a_stack_beyond_the_limit_says_so(void **state)
{
    (void)state;
    recurse(DEPTH + 10, 1);
    assert_int_equal(found.end, FEED_END_DEPTH);
    assert_int_equal(found.ours_count, DEPTH);
}

/* The second walk does not go all the way: it finds the root side where the first one saw it. */
static void a_stack_beyond_the_limit_keeps_its_outer_frames(void **state)
{
    uint64_t root;

    (void)state;
    take_here();
    root = found.ours[found.ours_count - 1];
    for (int walk = 0; walk < 2; walk++) {
        uint32_t gap = 0;

        recurse(10000, 1);
        assert_int_equal(found.end, FEED_END_DEPTH);
        assert_int_equal(found.ours[DEPTH - 1], root);
        while (gap < DEPTH && found.ours[gap] != FEED_FRAME_GAP)
            gap++;
        assert_in_range(gap, DEPTH / 2, DEPTH - 4);
    }
}

/* A recursion that was there from the first sample on, deeper than the far walk goes. */
static void the_far_walk_is_made_once(void **state)
{
    (void)state;
    recurse(20000, 1);
    assert_int_equal(found.end, FEED_END_DEPTH);
    assert_int_equal(outer_frames.walked, 1);
    assert_int_not_equal(found.ours[DEPTH - 1], FEED_FRAME_GAP);
    recurse(20000, 1);
    assert_int_equal(found.ours_count, DEPTH);
}

/* Root frames that were noted and have been overwritten since are not shown. */
static void a_outer_frames_that_is_no_more_is_not_believed(void **state)
{
    (void)state;
    take_here();
    for (uint32_t i = 0; i < OUTER_FRAMES_MAX; i++)
        outer_frames.noted[outer_frames.current][i].pc++;
    recurse(DEPTH + 10, 1);
    for (uint32_t i = 0; i < DEPTH; i++)
        assert_int_not_equal(found.ours[i], FEED_FRAME_GAP);
}

static ucontext_t coroutine, caller;

static void take_in_coroutine(void)
{
    take_here();
    swapcontext(&coroutine, &caller);
}

/* Nobody told of this stack: it is read through the kernel, up to where makecontext began it. */
static void a_coroutines_stack_is_whole(void **state)
{
    size_t bytes = 256 * 1024;
    void *stack = malloc(bytes);

    (void)state;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = bytes;
    makecontext(&coroutine, take_in_coroutine, 0);
    swapcontext(&caller, &coroutine);
    free(stack);
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_in_range(found.ours_count, 2, 4);
}

__attribute__((noinline)) static void take_in_a_large_aligned_frame(size_t bytes)
{
    _Alignas(64) volatile char aligned[64];
    volatile char *large = alloca(bytes);

    aligned[bytes % 64] = 1;
    large[bytes - 1] = aligned[bytes % 64];
    take_here();
    large[0] = 1;
}

/* A realigned frame keeps its CFA in memory; a variable one needs the frame pointer. */
static void large_variable_and_realigned_frames_are_walked(void **state)
{
    (void)state;
    take_in_a_large_aligned_frame(300 * 1024);
    assert_same_callers(1, 1);
}

static struct stack_range handler_stack;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    take(context, &handler_stack);
    found.theirs_count = take_theirs();
}

/* The thread sanitizer delivers signals itself, from frames of its own. */
#if defined(__SANITIZE_THREAD__)
#define SKIP_WHERE_SIGNALS_ARE_DELIVERED_LATE()                                                    \
    skip_because("the thread sanitizer delivers signals itself")
#else
#define SKIP_WHERE_SIGNALS_ARE_DELIVERED_LATE() ((void)0)
#endif

static void with_handler(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, NULL);
    handler_stack = own_stack();
}

/* backtrace sees on_signal and the kernel's frame first; the interrupted pc itself is the same. */
static void an_interrupted_stack_is_whole(void **state)
{
    (void)state;
    SKIP_WHERE_SIGNALS_ARE_DELIVERED_LATE();
    with_handler(on_signal);
    raise(SIGUSR1);
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_int_equal(runtime_pc(found.ours[0]), (uint64_t)found.theirs[2]);
    assert_same_callers(1, 3);
}

static void on_signal_take_from_inside(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    take_here();
    __asm__ volatile(""); /* take_here is called, not jumped to */
}

static void the_kernels_signal_frame_is_walked_through(void **state)
{
    (void)state;
    SKIP_WHERE_SIGNALS_ARE_DELIVERED_LATE();
    with_handler(on_signal_take_from_inside);
    raise(SIGUSR1);
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_int_equal(found.ours_count, found.theirs_count);
    /* The interrupted pc is exact, no return address. */
    assert_int_equal(runtime_pc(found.ours[3]), (uint64_t)found.theirs[3]);
}

static void *take_in_a_thread(void *unused)
{
    take_here();
    return unused;
}

static void a_threads_stack_ends_where_it_began(void **state)
{
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, take_in_a_thread, NULL);
    pthread_join(thread, NULL);
    assert_same_callers(1, 1);
}

/* The thread's own stack is not known (it was found in /proc): the kernel reads it for us. */
static void a_stack_nobody_knows_is_whole(void **state)
{
    struct stack_range unknown = { 0 };
    ucontext_t context;

    (void)state;
    getcontext(&context);
    take(&context, &unknown);
    found.theirs_count = take_theirs();
    assert_same_callers(1, 1);
}

static void a_stack_pointer_to_nowhere_ends_at_the_leaf(void **state)
{
    struct stack_range range = own_stack();
    ucontext_t context;

    (void)state;
    getcontext(&context);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = 0x1000;
    context.uc_mcontext.gregs[REG_RBP] = 0x1000;
#else
    context.uc_mcontext.sp = 0x1000;
#endif
    take(&context, &range);
    assert_int_equal(found.end, FEED_END_STACK);
    assert_int_equal(found.ours_count, 1);
}

static void take_on_alternate_stack(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    take_here();
    __asm__ volatile("");
}

/* A tick that comes while the program's own handler runs on its alternate stack. */
static void an_alternate_stack_leads_back_to_the_own_one(void **state)
{
    stack_t alternate = { .ss_sp = malloc(256 * 1024), .ss_size = 256 * 1024 };
    struct sigaction action;

    (void)state;
    SKIP_WHERE_SIGNALS_ARE_DELIVERED_LATE();
    sigaltstack(&alternate, NULL);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = take_on_alternate_stack;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, NULL);
    free(alternate.ss_sp);
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_int_equal(found.ours_count, found.theirs_count);
}

static void code_in_no_module_ends_with_that_reason(void **state)
{
    struct stack_range range = own_stack();
    ucontext_t context;

    (void)state;
    getcontext(&context);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = 0x10;
#else
    context.uc_mcontext.pc = 0x10;
#endif
    take(&context, &range);
    assert_int_equal(found.end, FEED_END_NO_MODULE);
    assert_int_equal(found.ours[0], FEED_FRAME(0, 0x10));
}

/* After a dlclose, what may have been replaced is not believed until it was looked at again: its
 * frames have no module, but the stack is whole by the module's own unwind data. */
static void a_module_that_may_be_gone_is_not_believed(void **state)
{
    (void)state;
    modules.maps.unloads++;
    for (uint32_t i = 0; i < atomic_load(&modules.maps.current)->count; i++)
        atomic_load(&modules.maps.current)->ranges[i].permanent = false;
    take_here();
    assert_int_equal(FEED_FRAME_MODULE(found.ours[0]), 0);
    assert_same_callers(1, 1);
    modules_refresh(&modules, &writer);
    found.ours_count = 0;
    take_here();
    assert_int_not_equal(FEED_FRAME_MODULE(found.ours[0]), 0);
    assert_int_equal(found.end, FEED_END_ROOT);
}

static int forget(void **state)
{
    (void)state;
    memset(&found, 0, sizeof found);
    memset(&outer_frames, 0, sizeof outer_frames);
    return 0;
}

static const char *name_of(uint64_t frame)
{
    return writer.names + FEED_FRAME_NAME(frame);
}

static void provide(const void *code, size_t bytes, isoscope_frame_provider call, void *context)
{
    const struct provider_range range = {
        .start = (uint64_t)code, .end = (uint64_t)code + bytes, .call = call, .context = context
    };

    assert_int_equal(frame_providers_add(&providers, &modules.maps, &range), 0);
}

static void provide_no_more(void)
{
    frame_providers_free(&providers);
    named_code_clear(&named);
}

#ifdef __x86_64__
/* push rbp; mov rbp, rsp; nop; pop rbp; ret */
static const uint8_t jit_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3 };

/* The stack as the instruction at the offset finds it: sp and fp count words from its end. */
static void take_in_jit(uint32_t offset, uint32_t sp, uint32_t fp)
{
    static uint64_t stack[8];
    struct stack_range range = { (uint64_t)stack, (uint64_t)(stack + 8), 0 };
    ucontext_t context = { 0 };

    forget(NULL);
    memset(stack, 0, sizeof stack);
    stack[8 - 4] = 0x1001; /* the return address: in no module */
    stack[8 - 5] = (uint64_t)&stack[8 - 1];
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)(jit_code + offset);
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uint64_t)(stack + 8 - sp);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)(uint64_t)(stack + 8 - fp);
    take(&context, &range);
}

static void code_of_a_jit_is_left_by_its_frame_pointer_at_each_instruction(void **state)
{
    static const struct {
        uint32_t offset, sp, fp;
    } places[] = { { 0, 4, 1 }, { 1, 5, 1 }, { 4, 5, 5 }, { 5, 5, 5 }, { 6, 4, 1 } };
    struct code_map *map = atomic_load(&modules.maps.current);
    uint32_t count = map->count;

    (void)state;
    map->count = 0; /* this program's own modules would know the place */
    named_code_add(&named, &modules.maps, (uint64_t)jit_code, sizeof jit_code, "jitted");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        take_in_jit(places[i].offset, places[i].sp, places[i].fp);
        assert_int_equal(found.ours_count, 2);
        assert_int_equal(FEED_FRAME_MODULE(found.ours[0]), FEED_MODULE_NAMED);
        assert_string_equal(name_of(found.ours[0]), "jitted");
        assert_int_equal(found.ours[1], FEED_FRAME(0, 0x1000));
    }
    named_code_clear(&named);
    map->count = count;
}

/* Code of no module, which is walked as a JIT's, is all that the map has while act runs. */
static void in_an_area(const uint8_t *code, uint32_t bytes, void (*act)(const uint8_t *code))
{
    struct code_map *map = atomic_load(&modules.maps.current);
    struct code_range range = map->ranges[0];
    uint32_t count = map->count;

    map->count = 1;
    map->trampolines = map->changes_stacks = true;
    map->ranges[0] = (struct code_range){ .start = (uint64_t)code,
                                          .end = (uint64_t)code + bytes,
                                          .permanent = true,
                                          .by_frame_pointer = true };
    act(code);
    map->ranges[0] = range;
    map->trampolines = map->changes_stacks = false;
    map->count = count;
}

/* As a tick at the instruction finds it; the stack, of 8 words, begins with its last. */
static void take_at(const uint8_t *pc, const uint64_t *stack, const uint64_t *fp)
{
    struct stack_range range = { (uint64_t)stack, (uint64_t)(stack + 8), 0 };
    ucontext_t context = { 0 };

    forget(NULL);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)pc;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uint64_t)stack;
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)(uint64_t)fp;
    take(&context, &range);
}

static void walk_trampoline(const uint8_t *code)
{
    static const uint32_t without_its_frame[] = { 0, 10 }, with_it[] = { 4, 6 };
    const uint64_t outside[8] = { 0x1001 }, inside[8] = { 0, 0x1001 };
    const uint64_t two[8] = { 0, (uint64_t)(code + 6), 0, 0x1001 };

    for (uint32_t i = 0; i < 2; i++) {
        take_at(code + without_its_frame[i], outside, NULL);
        assert_int_equal(found.ours_count, 2);
        assert_int_equal(found.ours[1], FEED_FRAME(0, 0x1000));
        take_at(code + with_it[i], inside, NULL);
        assert_int_equal(found.ours_count, 2);
        assert_int_equal(found.ours[1], FEED_FRAME(0, 0x1000));
    }
    take_at(code + 4, two, NULL); /* one calls another */
    assert_int_equal(found.ours_count, 3);
    assert_int_equal(found.ours[2], FEED_FRAME(0, 0x1000));
}

static void a_trampoline_is_left_by_its_fixed_frame_at_each_instruction(void **state)
{
    /* sub rsp, 8; call *rcx; add rsp, 8; ret */
    static const uint8_t code[16] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3 };

    (void)state;
    in_an_area(code, sizeof code, walk_trampoline);
}

static void walk_to_zero(const uint8_t *code)
{
    const uint64_t stack[8] = { 0, (uint64_t)(code + 5) };

    take_at(code + 4, stack, stack);
    assert_int_equal(found.ours_count, 2);
    assert_int_equal(found.end, FEED_END_ROOT);
    take_at(code + 4, stack, NULL); /* of a leaf that means nothing */
    assert_int_equal(found.ours_count, 1);
    assert_int_equal(found.end, FEED_END_STACK);
}

static void a_caller_whose_frame_pointer_is_zero_is_the_first_frame(void **state)
{
    (void)state;
    in_an_area(jit_code, sizeof jit_code, walk_to_zero);
}

static void walk_to_its_stack(const uint8_t *code)
{
    /* Apart: the end of the thread's stack belongs to it. */
    struct {
        uint64_t stack[8], between[8], of_its_own[8];
    } of = { .of_its_own = { 0, (uint64_t)(code + 5) } };

    of.stack[0] = (uint64_t)of.of_its_own;
    of.stack[1] = (uint64_t)(code + 5);
    take_at(code + 4, of.stack, of.stack);
    assert_int_equal(found.ours_count, 3);
    assert_int_equal(found.end, FEED_END_ROOT);
}

static void a_frame_pointer_leads_to_the_stack_that_the_code_has_for_itself(void **state)
{
    (void)state;
    in_an_area(jit_code, sizeof jit_code, walk_to_its_stack);
}

static const char *one_frame(void *context, const struct isoscope_native_frame *native,
                             void **cursor)
{
    (void)cursor;
    return native->shown ? NULL : context;
}

static void a_provider_names_frames_of_code_without_a_file(void **state)
{
    struct code_map *map = atomic_load(&modules.maps.current);
    uint32_t count = map->count;

    (void)state;
    map->count = 0;
    named_code_add(&named, &modules.maps, (uint64_t)jit_code, sizeof jit_code, "jitted");
    provide(jit_code, sizeof jit_code, one_frame, "interpreted");
    take_in_jit(4, 5, 5);
    assert_int_equal(found.ours_count, 2);
    assert_string_equal(name_of(found.ours[0]), "interpreted");
    assert_int_equal(found.ours[1], FEED_FRAME(0, 0x1000));
    provide_no_more();
    map->count = count;
}
#endif

/* Two functions in one native frame: the outer one is named by the context. */
static const char *two_frames(void *context, const struct isoscope_native_frame *native,
                              void **cursor)
{
    *cursor = *cursor ? *cursor : context;
    return native->shown == 0 ? "inner" : native->shown == 1 ? *cursor : NULL;
}

static void interpreted_frames_take_the_place_of_the_native_one(void **state)
{
    uint32_t native;

    (void)state;
    take_here();
    native = found.ours_count;
    provide((void *)take_here, 1, two_frames, "outer");
    provide((char *)take_here + 1, 1023, two_frames, "outer");
    forget(NULL);
    take_here();
    provide_no_more();
    assert_int_equal(found.end, FEED_END_ROOT);
    assert_true(found.ours_count > native);
    assert_string_equal(name_of(found.ours[0]), "inner");
    assert_string_equal(name_of(found.ours[1]), "outer");
}

/* Gives names from its own list, one for each native frame. */
static const char *next_of_list(void *context, const struct isoscope_native_frame *native,
                                void **cursor)
{
    const char **next = *cursor ? *cursor : context;

    if (native->shown || !*next)
        return NULL;
    *cursor = next + 1;
    return *next;
}

extern const char __start_first_interpreter[], __stop_first_interpreter[];
extern const char __start_second_interpreter[], __stop_second_interpreter[];

/* By pointers: no compiler makes one function of the two. */
static int (*volatile interprets[2])(int depth);

__attribute__((section("first_interpreter"))) static int first_interprets(int depth)
{
    if (!depth)
        take_here();
    return (depth ? interprets[1](depth - 1) : 0) + 1;
}

__attribute__((section("second_interpreter"))) static int second_interprets(int depth)
{
    return interprets[0](depth) + 1;
}

static void each_provider_has_a_cursor_of_its_own_through_the_stack(void **state)
{
    static const char *const first[] = { "a1", "a2", "a3", NULL };
    static const char *const second[] = { "b1", "b2", NULL };
    static const char *const expected[] = { "a1", "b1", "a2", "b2", "a3" };

    (void)state;
    provide(__start_first_interpreter,
            (size_t)(__stop_first_interpreter - __start_first_interpreter), next_of_list,
            (void *)(uintptr_t)first);
    provide(__start_second_interpreter,
            (size_t)(__stop_second_interpreter - __start_second_interpreter), next_of_list,
            (void *)(uintptr_t)second);
    interprets[0] = first_interprets;
    interprets[1] = second_interprets;
    interprets[0](2);
    provide_no_more();
    assert_int_equal(found.end, FEED_END_ROOT);
    for (uint32_t i = 0; i < 5; i++)
        assert_string_equal(name_of(found.ours[i + 1]), expected[i]);
}

struct read_case {
    uintptr_t address;
    size_t size;
    int error;
};

static const char *read_bad_addresses(void *context, const struct isoscope_native_frame *native,
                                      void **cursor)
{
    struct read_case *read;
    char bytes[64];
    uint64_t word = 0;

    (void)cursor;
    for (read = context; read->size; read++)
        read->error = native->read(native, bytes, read->address, read->size);
    /* Its own stack. */
    read->error = native->read(native, &word, native->sp, sizeof word);
    return native->shown ? NULL : word == *(const uint64_t *)native->sp ? "read" : "misread";
}

static void a_provider_reads_bad_addresses_and_nothing_faults(void **state)
{
    char *pages = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct read_case reads[] = {
        { 0, 8, 0 },
        { 1, 8, 0 },
        { (uintptr_t)pages + 4096, 8, 0 }, /* no access */
        { (uintptr_t)pages + 4092, 8, 0 }, /* half of it */
        { UINTPTR_MAX - 3, 8, 0 },         /* around the end of all addresses */
        { UINTPTR_MAX / 2 + 1, 8, 0 },     /* no address at all */
        { (uintptr_t)pages, 8, 0 },
        { 0, 0, 0 },
    };

    (void)state;
    mprotect(pages + 4096, 4096, PROT_NONE);
    provide((void *)take_here, 1024, read_bad_addresses, reads);
    take_here();
    provide_no_more();
    munmap(pages, 8192);
    for (int i = 0; i < 6; i++)
        assert_int_equal(reads[i].error, -ISOSCOPE_NOT_FOUND);
    assert_int_equal(reads[6].error, 0);
    assert_int_equal(reads[7].error, 0);
    assert_string_equal(name_of(found.ours[0]), "read");
}

static int learn(void **state)
{
    void *warm[4];
    int memfd;

    (void)state;
    backtrace(warm, 4); /* loads libgcc: before the modules are looked at */
    if (feed_writer_create(&writer, &memfd, getpid(), 1))
        return -1;
    close(memfd);
    modules_new(&modules);
    return modules_refresh(&modules, &writer) && own_tables(&modules, &writer) ? 0 : -1;
}

static int unlearn(void **state)
{
    (void)state;
    modules_free(&modules);
    feed_writer_destroy(&writer);
    return 0;
}

#define UNWIND_TEST(name) cmocka_unit_test_setup(name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNWIND_TEST(plain_frames_are_those_of_libc),
        UNWIND_TEST(frames_of_a_library_without_frame_pointers_are_walked),
        UNWIND_TEST(a_deep_stack_is_whole),
        UNWIND_TEST(a_stack_beyond_the_limit_says_so),
        UNWIND_TEST(a_stack_beyond_the_limit_keeps_its_outer_frames),
        UNWIND_TEST(the_far_walk_is_made_once),
        UNWIND_TEST(a_outer_frames_that_is_no_more_is_not_believed),
        UNWIND_TEST(large_variable_and_realigned_frames_are_walked),
        UNWIND_TEST(an_interrupted_stack_is_whole),
        UNWIND_TEST(the_kernels_signal_frame_is_walked_through),
        UNWIND_TEST(a_threads_stack_ends_where_it_began),
        UNWIND_TEST(a_stack_nobody_knows_is_whole),
        UNWIND_TEST(a_stack_pointer_to_nowhere_ends_at_the_leaf),
        UNWIND_TEST(an_alternate_stack_leads_back_to_the_own_one),
        UNWIND_TEST(a_coroutines_stack_is_whole),
        UNWIND_TEST(code_in_no_module_ends_with_that_reason),
        UNWIND_TEST(a_module_that_may_be_gone_is_not_believed),
#ifdef __x86_64__
        UNWIND_TEST(code_of_a_jit_is_left_by_its_frame_pointer_at_each_instruction),
        UNWIND_TEST(a_trampoline_is_left_by_its_fixed_frame_at_each_instruction),
        UNWIND_TEST(a_caller_whose_frame_pointer_is_zero_is_the_first_frame),
        UNWIND_TEST(a_frame_pointer_leads_to_the_stack_that_the_code_has_for_itself),
        UNWIND_TEST(a_provider_names_frames_of_code_without_a_file),
#endif
        UNWIND_TEST(interpreted_frames_take_the_place_of_the_native_one),
        UNWIND_TEST(each_provider_has_a_cursor_of_its_own_through_the_stack),
        UNWIND_TEST(a_provider_reads_bad_addresses_and_nothing_faults),
    };

    return cmocka_run_group_tests(tests, learn, unlearn);
}
