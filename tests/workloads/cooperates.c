/*
 * cooperates.c - a program that tells the sampler of itself (isoscope.h).
 *
 *     cooperates tags|jit|reuse|providers|stuck|count|threads|forks|alone SECONDS
 *
 * Each part prints "ok" when what the calls returned was right; the profile is the test's to check.
 */
#include "burn.h"

#include <isoscope/isoscope.h>

#include <sched.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds;

__attribute__((noinline)) static void spin(double share)
{
    struct burn burn = { 88172645463325252 };
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds * share;

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        burn_rounds(&burn, burn_draw(&burn));
}

/* Half of the time in "parse", a quarter each in "read" inside of it and without a tag. */
static bool tags(void)
{
    char text[] = "read";

    isoscope_tag_pop();
    isoscope_tag_push("parse");
    spin(0.25);
    isoscope_tag_push(text);
    spin(0.25);
    isoscope_tag_pop();
    memset(text, 'x', 4);
    spin(0.25);
    isoscope_tag_pop();
    spin(0.25);
    /* Too deep is counted. */
    for (int i = 0; i < 100; i++)
        isoscope_tag_push("deep");
    for (int i = 0; i < 100; i++)
        isoscope_tag_pop();
    return true;
}

__attribute__((noinline)) static void called_back(void)
{
    spin(0.5);
}

enum { JIT_CODE_BYTES = 25 };

#if defined(__x86_64__)
/* push rbp; mov rbp, rsp; mov eax, 500000000; dec eax; jne -4; call rdi; pop rbp; ret */
static const uint8_t jit_code[JIT_CODE_BYTES] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, 0x00, 0x65,
                                                  0xcd, 0x1d, 0xff, 0xc8, 0x75, 0xfc, 0x48,
                                                  0x83, 0xec, 0x10, 0xff, 0xd7, 0x48, 0x83,
                                                  0xc4, 0x10, 0x5d, 0xc3 };
#endif

typedef void (*jitted_code)(void (*call)(void));

/* NULL on processors whose code it is not. */
static uint8_t *make_code(void)
{
#if defined(__x86_64__)
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *code = page + 64;

    memcpy(code, jit_code, sizeof jit_code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    return code;
#else
    return NULL;
#endif
}

/* Time in the code itself, and in what it calls. */
static bool jit(void)
{
    uint8_t *code = make_code();
    bool ok;

    if (!code)
        return false;
    ok = isoscope_code_register(code - 16, 100, "overwritten") == 0 &&
         isoscope_code_register(code, JIT_CODE_BYTES, "jitted <f>") == 0 &&
         isoscope_code_unregister(code - 16) == -ISOSCOPE_NOT_FOUND;
    ((jitted_code)(uintptr_t)code)(called_back);
    return ok && isoscope_code_unregister(code) == 0;
}

/* The same addresses are one function after the other, and then none that has a name. */
static bool reuse(void)
{
    static const char *const names[] = { "first", "second" };
    uint8_t *code = make_code();

    for (int i = 0; code && i < 2; i++) {
        if (isoscope_code_register(code, JIT_CODE_BYTES, names[i]) != 0)
            return false;
        ((jitted_code)(uintptr_t)code)(called_back);
        if (isoscope_code_unregister(code) != 0)
            return false;
    }
    if (code)
        ((jitted_code)(uintptr_t)code)(called_back);
    return code != NULL;
}

/* ---- interpreters: three of them, one of which comes and goes, and one of which has lines ---- */

extern const char __start_first_interpreter[], __stop_first_interpreter[];
extern const char __start_second_interpreter[], __stop_second_interpreter[];
extern const char __start_third_interpreter[], __stop_third_interpreter[];

static _Atomic uint64_t asked, misread;

__attribute__((section("first_interpreter"), noinline)) static void first_interprets(void)
{
    spin(0.5);
    __asm__ volatile(""); /* no tail call */
}

__attribute__((section("second_interpreter"), noinline)) static void second_interprets(void)
{
    spin(0.5);
    __asm__ volatile(""); /* no tail call */
}

/* What it must not read by a plain load: nothing there can fault. */
static const char *first_function(void *context, const struct isoscope_native_frame *native,
                                  void **cursor)
{
    static const uintptr_t bad[] = { 0, 8, UINTPTR_MAX - 3, UINTPTR_MAX / 2 + 1 };
    uint64_t word;

    (void)cursor;
    asked++;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        misread += native->read(native, &word, bad[i], sizeof word) == 0;
    misread += native->read(native, &word, native->sp, sizeof word) != 0;
    return native->shown ? NULL : context;
}

/* The context is a page that is unmapped as soon as the range is taken back. */
static const char *second_function(void *context, const struct isoscope_native_frame *native,
                                   void **cursor)
{
    (void)cursor;
    return native->shown ? NULL : context;
}

static int register_first(const char *name)
{
    return isoscope_frame_provider_register(
        __start_first_interpreter, (size_t)(__stop_first_interpreter - __start_first_interpreter),
        first_function, (void *)(uintptr_t)name);
}

static void *interpret_second(void *over)
{
    second_interprets();
    atomic_store((_Atomic bool *)over, true);
    return NULL;
}

static bool come_and_go(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t bytes = (size_t)(__stop_second_interpreter - __start_second_interpreter);
    bool ok;

    strcpy(page, "second");
    ok = isoscope_frame_provider_register(__start_second_interpreter, bytes, second_function,
                                          page) == 0 &&
         isoscope_frame_provider_register(__start_second_interpreter + 1, 1, first_function,
                                          NULL) == -ISOSCOPE_OVERLAP;
    usleep(20000);
    ok = ok && isoscope_frame_provider_unregister(__start_second_interpreter) == 0 &&
         isoscope_frame_provider_unregister(__start_second_interpreter) == -ISOSCOPE_NOT_FOUND;
    munmap(page, 4096);
    return ok;
}

__attribute__((section("third_interpreter"), noinline)) static void third_interprets(void)
{
    spin(0.3);
    __asm__ volatile(""); /* no tail call */
}

/* As it stands in the interpreter's memory. */
struct function {
    const char *name;
    uint32_t position;
};

static const struct function area = { "Shape.area", 6 }, caller = { "main", 2 };
static _Atomic uint32_t described;

/* Two functions for the native frame, the inner one first. */
static int third_function(void *context, const struct isoscope_native_frame *native, void **cursor,
                          struct isoscope_code *code)
{
    const struct function *function = native->shown ? &caller : &area;
    struct function copy;

    (void)context, (void)cursor;
    misread += native->read(native, &copy, (uintptr_t)function, sizeof copy) != 0;
    code->key[0] = (uintptr_t)function;
    code->position = copy.position;
    return native->shown < 2;
}

static void describe_third(void *context, const struct isoscope_native_frame *native,
                           const struct isoscope_code *code, struct isoscope_code_text *text)
{
    struct function copy;

    described++;
    if (native->read(native, &copy, code->key[0], sizeof copy) == 0)
        strcpy(text->name, copy.name);
    strcpy(text->file, context);
    text->first_line = 9;
    text->line_count = 2;
    text->lines[0].line = 10;
    text->lines[1].position = 5;
    text->lines[1].line = 12;
}

static bool interpret_third(void)
{
    size_t bytes = (size_t)(__stop_third_interpreter - __start_third_interpreter);
    bool ok = isoscope_code_provider_register(__start_third_interpreter, bytes, third_function,
                                              NULL, NULL) == -ISOSCOPE_INVALID &&
              isoscope_code_provider_register(__start_third_interpreter, bytes, third_function,
                                              describe_third, "/app/shapes.lang") == 0;

    third_interprets();
    return ok && described == 2 &&
           isoscope_frame_provider_unregister(__start_third_interpreter) == 0;
}

static bool providers(void)
{
    _Atomic bool over = false;
    pthread_t thread;
    bool ok = register_first("first") == 0;

    pthread_create(&thread, NULL, interpret_second, (void *)&over);
    while (ok && !atomic_load(&over))
        ok = come_and_go();
    pthread_join(thread, NULL);
    first_interprets();
    ok = ok && interpret_third();
    return ok && asked && !misread &&
           isoscope_frame_provider_unregister(__start_first_interpreter) == 0;
}

static _Atomic bool inside, leave;

static const char *stuck_function(void *context, const struct isoscope_native_frame *native,
                                  void **cursor)
{
    (void)context, (void)native, (void)cursor;
    atomic_store(&inside, true);
    while (!atomic_load(&leave))
        ;
    return NULL;
}

/* A tick that does not end: its provider is told not to go yet, and goes later. */
static bool stuck(void)
{
    _Atomic bool over = false;
    pthread_t thread;
    int error;

    if (isoscope_frame_provider_register(
            __start_second_interpreter,
            (size_t)(__stop_second_interpreter - __start_second_interpreter), stuck_function, NULL))
        return false;
    pthread_create(&thread, NULL, interpret_second, (void *)&over);
    while (!atomic_load(&inside) && !atomic_load(&over))
        usleep(1000);
    error = isoscope_frame_provider_unregister(__start_second_interpreter);
    atomic_store(&leave, true);
    pthread_join(thread, NULL);
    return error == -ISOSCOPE_PENDING && register_first("first") == 0 &&
           isoscope_frame_provider_unregister(__start_first_interpreter) == 0;
}

static bool count(void)
{
    uint64_t before = isoscope_sample_count(), after;
    struct timespec rest = { 0, 50 * 1000 * 1000 };

    if (isoscope_set_period(10) != -ISOSCOPE_INVALID || isoscope_set_period(500) != 0)
        return false;
    spin(1);
    after = isoscope_sample_count();
    nanosleep(&rest, NULL); /* without CPU time there is no tick */
    printf("%lu samples\n", (unsigned long)(after - before));
    return after > before + 10 && isoscope_sample_count() <= after + 5;
}

static void *named_thread(void *unused)
{
    isoscope_thread_register("a-name-longer-than-fifteen");
    spin(0.5);
    return unused;
}

/* A thread that pthreads knows nothing of, on its creator's thread-local memory. */
static int raw_thread(void *unused)
{
    (void)unused;
    if (isoscope_thread_register("raw") != 0)
        return 1;
    for (volatile unsigned i = 0; i < 400000000; i++)
        ;
    isoscope_thread_unregister();
    return 0;
}

static bool threads(void)
{
    static char stack[256 * 1024] __attribute__((aligned(16)));
    pthread_t thread;
    volatile pid_t cleared = 1;
    int raw;

    isoscope_tag_push("main's own");
    pthread_create(&thread, NULL, named_thread, NULL);
    raw = clone(raw_thread, stack + sizeof stack,
                CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                    CLONE_CHILD_CLEARTID,
                NULL, NULL, NULL, &cleared);
    pthread_join(thread, NULL);
    while (raw > 0 && cleared)
        usleep(1000);
    isoscope_tag_pop();
    return raw > 0;
}

/* No sampler runs: nothing happens, and the calls that could say so do. */
static bool alone(void)
{
    isoscope_tag_push("nobody hears");
    isoscope_tag_pop();
    isoscope_thread_unregister();
    return isoscope_sample_count() == 0 &&
           isoscope_thread_register("name") == -ISOSCOPE_NO_SERVICE &&
           isoscope_set_period(1000) == -ISOSCOPE_NO_SERVICE &&
           isoscope_code_register("code", 4, "name") == -ISOSCOPE_NO_SERVICE &&
           isoscope_code_unregister("code") == -ISOSCOPE_NO_SERVICE &&
           register_first("first") == 0 &&
           isoscope_frame_provider_unregister(__start_first_interpreter) == 0 &&
           isoscope_start(NULL) == -ISOSCOPE_NO_SERVICE;
}

/* A child of fork knows the tag, and the code. */
/* As spin, until there are so many. */
__attribute__((noinline)) static bool gather(uint64_t samples)
{
    struct burn burn = { 88172645463325252 };
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 5;

    while (isoscope_sample_count() < samples && cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        burn_rounds(&burn, burn_draw(&burn));
    return isoscope_sample_count() >= samples;
}

/* The child does not count its parent's samples. One of its own may come before it asks. */
static bool forks(void)
{
    enum { OF_PARENT = 20, OF_CHILD = 10 };
    int status;
    pid_t child;

    isoscope_tag_push("before the fork");
    if (!gather(OF_PARENT))
        return false;
    child = fork();
    if (child == 0) {
        uint64_t before = isoscope_sample_count();

        spin(0.5);
        _exit(before >= OF_CHILD || isoscope_sample_count() < before + OF_CHILD);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(void);
    } parts[] = { { "tags", tags },           { "jit", jit },     { "reuse", reuse },
                  { "providers", providers }, { "stuck", stuck }, { "count", count },
                  { "threads", threads },     { "forks", forks }, { "alone", alone } };

    seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++)
        if (!strcmp(argv[1], parts[i].name) && parts[i].run()) {
            puts("ok");
            return 0;
        }
    return 1;
}
