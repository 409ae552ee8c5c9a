/* Memory that may not be there, or goes while it is read: of one's own, and of another process. */
#include "sampler/capture/fault_handler.h"
#include "sampler/capture/runtimes/guarded_memory.h"
#include "sampler/capture/threads/tick_signal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

enum { PAGE = 4096, PAGES = 4 };

static struct guarded_pages known;
static uint8_t *pages; /* the last one cannot be read */

static int set_up(void **state)
{
    struct guarded_memory *memory = calloc(1, sizeof *memory);

    memset(&known, 0, sizeof known);
    tick_signal_use(sigaction);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES * PAGE; i++)
        pages[i] = (uint8_t)(i * 7 + i / PAGE);
    mprotect(pages + (PAGES - 1) * PAGE, PAGE, PROT_NONE);
    *state = memory;
    return !memory;
}

static int tear_down(void **state)
{
    free(*state);
    munmap(pages, PAGES * PAGE);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    fault_handler_left();
    return 0;
}

static void assert_reads_what_is_there(struct guarded_memory *memory)
{
    const uint64_t at = (uint64_t)pages;
    uint8_t out[2 * PAGE];
    uint64_t word;

    assert_true(guarded_word(memory, at + 8, &word));
    assert_memory_equal(&word, pages + 8, 8);
    assert_true(guarded_word(memory, at + PAGE - 3, &word));
    assert_memory_equal(&word, pages + PAGE - 3, 8);
    assert_true(guarded_read(memory, out, at + 5, 2 * PAGE));
    assert_memory_equal(out, pages + 5, 2 * PAGE);
    assert_true(guarded_read(memory, out, at + 1, 1));
    assert_int_equal(out[0], pages[1]);
    assert_true(guarded_read(memory, out, 0, 0));
}

static void assert_reads_nothing_else(struct guarded_memory *memory)
{
    const uint64_t end = (uint64_t)pages + (PAGES - 1) * PAGE;
    const uint64_t wrong[] = { end,
                               end - 7,
                               0,
                               1,
                               8,
                               4088,
                               4095,
                               UINT64_MAX,
                               UINT64_MAX - 7,
                               UINT64_C(1) << 47,
                               UINT64_C(0x8000000000001000) };
    uint8_t out[PAGE];
    uint64_t word;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(guarded_word(memory, wrong[i], &word));
    assert_false(guarded_read(memory, out, end - 1, PAGE));
}

static void one_s_own_memory_is_read_where_there_is_some(void **state)
{
    struct guarded_memory *memory = *state;

    assert_true(fault_handler_take());
    guarded_memory_begin(memory, &known, false);
    assert_reads_what_is_there(memory);
    assert_reads_nothing_else(memory);
    guarded_memory_end(memory);
}

static void without_our_handler_the_kernel_reads(void **state)
{
    struct guarded_memory *memory = *state;
    struct sigaction now;

    guarded_memory_begin(memory, NULL, false);
    assert_reads_what_is_there(memory);
    assert_reads_nothing_else(memory);
    guarded_memory_end(memory);
    sigaction(SIGSEGV, NULL, &now);
    assert_true(now.sa_sigaction != handler_fault);
}

static void another_process_s_memory_is_read_by_copies(void **state)
{
    static struct guarded_copies copies;
    struct guarded_memory *memory = *state;
    pid_t child = fork();
    int status;

    if (!child)
        for (;;)
            pause();
    guarded_memory_begin_other(memory, child, &copies);
    assert_reads_what_is_there(memory);
    assert_reads_nothing_else(memory);
    guarded_memory_end(memory);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

/* As between the probe and the read, on another thread. */
static void a_page_that_goes_after_its_probe_is_no_fault(void **state)
{
    struct guarded_memory *memory = *state;
    uint64_t at = (uint64_t)pages, word = 0;
    uint8_t out[PAGE];

    assert_true(fault_handler_take());
    guarded_memory_begin(memory, &known, false);
    assert_true(guarded_word(memory, at, &word));
    assert_true(guarded_read(memory, out, at + PAGE, 100));
    munmap(pages, 2 * PAGE);
    assert_false(guarded_word(memory, at, &word));
    assert_false(guarded_read(memory, out, at + PAGE, 100));
    assert_true(guarded_word(memory, at + 2 * PAGE, &word));
    guarded_memory_end(memory);
}

/* One fault tells that it has gone; then it is probed. Others' scans know it, too. */
static void a_page_that_went_between_two_scans_is_met_once(void **state)
{
    struct guarded_memory *memory = *state;
    const uint64_t at = (uint64_t)pages, page = at / PAGE;
    uint64_t word = 0;

    assert_true(fault_handler_take());
    guarded_memory_begin(memory, &known, false);
    assert_true(guarded_word(memory, at, &word));
    guarded_memory_end(memory);
    assert_int_equal(known.page[page % GUARDED_PAGES], page);
    mprotect(pages, PAGE, PROT_NONE);
    guarded_memory_begin(memory, &known, false);
    assert_false(guarded_word(memory, at, &word));
    assert_int_equal(known.page[page % GUARDED_PAGES], 0);
    assert_false(guarded_word(memory, at, &word));
    guarded_memory_end(memory);
    mprotect(pages, PAGE, PROT_READ);
    guarded_memory_begin(memory, &known, false);
    assert_true(guarded_word(memory, at, &word));
    guarded_memory_end(memory);
}

static void a_file_that_is_cut_after_its_probe_is_no_fault(void **state)
{
    struct guarded_memory *memory = *state;
    int file = memfd_create("cut", 0);
    uint64_t word = 0;
    void *mapped;

    assert_int_equal(ftruncate(file, PAGE), 0);
    mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
    assert_true(fault_handler_take());
    guarded_memory_begin(memory, &known, false);
    assert_true(guarded_word(memory, (uint64_t)mapped, &word));
    assert_int_equal(ftruncate(file, 0), 0);
    assert_false(guarded_word(memory, (uint64_t)mapped, &word));
    guarded_memory_end(memory);
    munmap(mapped, PAGE);
    close(file);
}

/* The mask and the stack for signals are as before, whatever was met. */
static void a_scan_leaves_the_thread_s_signals_as_they_were(void **state)
{
    static char stack[64 * 1024];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack },
                  none = { .ss_flags = SS_DISABLE };
    struct guarded_memory *memory = *state;
    sigset_t all, before, during, after;
    stack_t found;
    uint64_t word;

    assert_true(fault_handler_take());
    sigaltstack(&alternate, NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    guarded_memory_begin(memory, &known, true);
    assert_true(guarded_word(memory, (uint64_t)pages, &word));
    sigprocmask(SIG_BLOCK, NULL, &during);
    assert_int_equal(sigismember(&during, SIGSEGV), 0);
    assert_int_equal(sigismember(&during, SIGBUS), 0);
    assert_int_equal(sigismember(&during, SIGTERM), 1);
    munmap(pages, PAGE);
    assert_false(guarded_word(memory, (uint64_t)pages, &word));
    guarded_memory_end(memory);
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_int_equal(sigismember(&after, SIGSEGV), 1);
    assert_int_equal(sigismember(&after, SIGBUS), 1);
    sigaltstack(&none, &found);
    assert_ptr_equal(found.ss_sp, stack);
    assert_int_equal(found.ss_size, sizeof stack);
}

int main(void)
{
#define WITH_PAGES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_PAGES(one_s_own_memory_is_read_where_there_is_some),
        WITH_PAGES(without_our_handler_the_kernel_reads),
        WITH_PAGES(another_process_s_memory_is_read_by_copies),
        WITH_PAGES(a_page_that_goes_after_its_probe_is_no_fault),
        WITH_PAGES(a_page_that_went_between_two_scans_is_met_once),
        WITH_PAGES(a_file_that_is_cut_after_its_probe_is_no_fault),
        WITH_PAGES(a_scan_leaves_the_thread_s_signals_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
