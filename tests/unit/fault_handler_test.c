/* Our handler of SIGSEGV and SIGBUS: guarded reads survive, and the program's own faults are its own. */
#include "sampler/capture/fault_handler.h"

#include "sampler/capture/runtimes/guarded_memory.h"
#include "sampler/capture/system/arch.h"
#include "sampler/capture/threads/program_action.h"
#include "sampler/capture/threads/tick_signal.h"
#include "sampler/capture/tick_stack.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

enum { PAGE = 4096 };

static int set_up(void **state)
{
    (void)state;
    tick_signal_use(sigaction);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    signal(SIGURG, SIG_DFL);
    fault_handler_left();
    return 0;
}

static uint8_t *new_page(void)
{
    return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* ---- as a tick does: on a stack of ours, with all signals blocked ---- */

static void (*scan_work)(struct guarded_memory *memory);

static void scan(void *alternate)
{
    static struct guarded_pages known;
    struct guarded_memory memory;

    guarded_memory_begin(&memory, fault_handler_take() ? &known : NULL, alternate != NULL);
    scan_work(&memory);
    guarded_memory_end(&memory);
    fault_handler_send_held();
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    void *stack = tick_stack_take();

    (void)number;
    (void)info;
    if (!stack)
        return;
    arch_call_on(stack, scan, at->uc_stack.ss_flags & SS_DISABLE ? NULL : stack);
    tick_stack_give(stack);
}

static void take_ticks(int flags)
{
    struct sigaction action = { .sa_sigaction = on_tick,
                                .sa_flags = SA_SIGINFO | SA_RESTART | flags };

    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    sigaction(SIGURG, &action, NULL);
}

/* ---- pages that come and go ---- */

enum { STORM_PAGES = 8, STORM_NS = 300 * 1000 * 1000, TICK_NS = 200 * 1000 };

static uint8_t *_Atomic places[STORM_PAGES];
static _Atomic bool storm_ends;
static _Atomic uint64_t reads, refused, ticks;

static void *map_and_unmap(void *unused)
{
    for (uint32_t i = 0; !atomic_load(&storm_ends); i++) {
        uint8_t *page = atomic_exchange(&places[i % STORM_PAGES], NULL);

        if (page)
            munmap(page, PAGE);
        page = new_page();
        page[0] = 1;
        atomic_store(&places[i % STORM_PAGES], page);
    }
    return unused;
}

static void read_places(struct guarded_memory *memory)
{
    uint64_t at[STORM_PAGES], word;

    atomic_fetch_add(&ticks, 1);
    for (int i = 0; i < STORM_PAGES; i++)
        at[i] = (uint64_t)atomic_load(&places[i]);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < STORM_PAGES; i++) {
            atomic_fetch_add(&reads, 1);
            if (at[i] && !guarded_word(memory, at[i] + 8 * (uint64_t)round, &word))
                atomic_fetch_add(&refused, 1);
        }
        sched_yield(); /* pages go behind their probe */
    }
}

static void *tick_and_work(void *unused)
{
    const struct itimerspec each = { { 0, TICK_NS }, { 0, TICK_NS } };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG };
    timer_t timer;

    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
        return unused;
    timer_settime(timer, 0, &each, NULL);
    while (!atomic_load(&storm_ends))
        ;
    timer_delete(timer);
    return unused;
}

static void pages_that_come_and_go_while_they_are_read_are_survived(void **state)
{
    const struct timespec moment = { 0, 1000 * 1000 };
    pthread_t threads[3];
    struct timespec began, now;

    (void)state;
    scan_work = read_places;
    take_ticks(0);
    clock_gettime(CLOCK_MONOTONIC, &began);
    pthread_create(&threads[0], NULL, map_and_unmap, NULL);
    pthread_create(&threads[1], NULL, tick_and_work, NULL);
    pthread_create(&threads[2], NULL, tick_and_work, NULL);
    do {
        nanosleep(&moment, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - began.tv_sec) * 1000000000ll + now.tv_nsec - began.tv_nsec < STORM_NS ||
             ((atomic_load(&refused) < 10 || atomic_load(&ticks) <= 10) &&
              now.tv_sec - began.tv_sec < 20));
    atomic_store(&storm_ends, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&ticks) > 10);
    assert_true(atomic_load(&refused) >= 10);
    assert_true(atomic_load(&refused) < atomic_load(&reads));
}

/* ---- the program's own ---- */

static sigjmp_buf away;
static siginfo_t seen;
static sigset_t seen_mask;
static volatile int seen_number, calls;

static void own_handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen_number = number;
    seen = *info;
    sigprocmask(SIG_BLOCK, NULL, &seen_mask);
    calls++;
    siglongjmp(away, 1);
}

static void own_plain_handler(int number)
{
    seen_number = number;
    calls++;
}

static void handle(int number, int flags)
{
    struct sigaction action = { .sa_sigaction = own_handler, .sa_flags = SA_SIGINFO | flags };

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(number, &action, NULL);
}

static void the_program_s_handler_gets_its_own_faults(void **state)
{
    volatile uint8_t *page = new_page();
    sigset_t none;

    (void)state;
    sigemptyset(&none);
    handle(SIGSEGV, 0);
    assert_true(fault_handler_take());
    mprotect((void *)page, PAGE, PROT_READ);
    for (int i = 0; i < 3; i++) {
        calls = 0;
        if (!sigsetjmp(away, 1))
            page[i * 16] = 1;
        assert_int_equal(calls, 1);
        assert_int_equal(seen_number, SIGSEGV);
        assert_int_equal(seen.si_code, SEGV_ACCERR);
        assert_ptr_equal(seen.si_addr, page + i * 16);
        assert_int_equal(sigismember(&seen_mask, SIGUSR2), 1);
        assert_int_equal(sigismember(&seen_mask, SIGSEGV), 1);
        assert_int_equal(sigismember(&seen_mask, SIGTERM), 0);
    }
    munmap((void *)page, PAGE);
}

static void what_is_sent_to_the_program_s_handler_comes_as_it_was_sent(void **state)
{
    const union sigval value = { .sival_int = 77 };
    struct sigaction action = { .sa_handler = own_plain_handler };

    (void)state;
    handle(SIGBUS, 0);
    assert_true(fault_handler_take());
    calls = 0;
    if (!sigsetjmp(away, 1))
        sigqueue(getpid(), SIGBUS, value);
    assert_int_equal(calls, 1);
    assert_int_equal(seen.si_code, SI_QUEUE);
    assert_int_equal(seen.si_value.sival_int, 77);
    signal(SIGBUS, SIG_DFL);
    fault_handler_left();
    sigaction(SIGBUS, &action, NULL);
    assert_true(fault_handler_take());
    raise(SIGBUS);
    assert_int_equal(calls, 2);
    assert_int_equal(seen_number, SIGBUS);
}

static void read_what_goes(struct guarded_memory *memory)
{
    uint8_t *page = new_page();
    uint64_t word;

    guarded_word(memory, (uint64_t)page, &word);
    munmap(page, PAGE);
    if (!guarded_word(memory, (uint64_t)page, &word))
        atomic_fetch_add(&refused, 1);
}

/* It runs on its own stack for signals, as it asked for, and a guarded read's fault does not: there
 * the tick's own frame may stand. */
static void stacks_for_signals_stay_the_program_s(void **state)
{
    static char stack[64 * 1024];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    const stack_t none = { .ss_flags = SS_DISABLE };
    volatile uint8_t *page = new_page();
    struct sigaction now;

    (void)state;
    sigaltstack(&alternate, NULL);
    handle(SIGSEGV, SA_ONSTACK);
    assert_true(fault_handler_take());
    sigaction(SIGSEGV, NULL, &now);
    assert_true(now.sa_sigaction == handler_fault && now.sa_flags & SA_ONSTACK);
    atomic_store(&refused, 0);
    scan_work = read_what_goes;
    take_ticks(SA_ONSTACK);
    raise(SIGURG);
    assert_int_equal(atomic_load(&refused), 1);
    mprotect((void *)page, PAGE, PROT_READ);
    calls = 0;
    if (!sigsetjmp(away, 1))
        page[0] = 1;
    assert_int_equal(calls, 1);
    sigaltstack(&none, NULL);
    munmap((void *)page, PAGE);
}

/* ---- what was sent while a scan runs ---- */

static void send_in_scan(struct guarded_memory *memory)
{
    uint8_t *page = new_page();
    uint64_t word;

    guarded_word(memory, (uint64_t)page, &word);
    raise(SIGSEGV);
    munmap(page, PAGE);
    /* The scan goes on as before, and faults are still survived. */
    if (!guarded_word(memory, (uint64_t)page, &word) && !calls)
        atomic_fetch_add(&refused, 1);
}

static void a_signal_that_is_sent_in_a_scan_comes_behind_the_tick(void **state)
{
    struct sigaction action = { .sa_handler = own_plain_handler };

    (void)state;
    sigaction(SIGSEGV, &action, NULL);
    assert_true(fault_handler_take());
    calls = 0;
    atomic_store(&refused, 0);
    scan_work = send_in_scan;
    take_ticks(0);
    raise(SIGURG);
    assert_int_equal(atomic_load(&refused), 1);
    assert_int_equal(calls, 1);
}

/* ---- the default ---- */

static int status_of(void (*crash)(void), bool guarded)
{
    const struct rlimit no_core = { 0, 0 };
    pid_t child = fork();
    int status = 0;

    if (!child) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        fault_handler_left();
        if (guarded && !fault_handler_take())
            _exit(3);
        crash();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void write_to_nothing(void)
{
    volatile int *volatile nowhere = (volatile int *)(uintptr_t)8;

    *nowhere = 1;
}

static void kill_oneself(void)
{
    kill(getpid(), SIGSEGV);
}

static void raise_bus(void)
{
    raise(SIGBUS);
}

static void read_behind_the_file(void)
{
    int file = memfd_create("empty", 0);
    volatile char *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

    _exit(mapped[0]);
}

static void crash_at_once_in_a_scan(struct guarded_memory *memory)
{
    volatile int *volatile nowhere = NULL;
    uint64_t word;

    guarded_word(memory, (uint64_t)&word, &word);
    *nowhere = 1;
}

/* Of ours: it is not taken for a guarded read. */
static void crash_in_a_scan(void)
{
    scan_work = crash_at_once_in_a_scan;
    take_ticks(0);
    raise(SIGURG);
}

static volatile bool ends;

static char endless(const volatile char *above)
{
    volatile char room[4096];

    room[0] = above[0];
    return ends ? room[0] : (char)(endless(room) + room[1]);
}

static void overflow_the_stack(void)
{
    volatile char none = 0;

    endless(&none);
}

static void a_crash_stays_a_crash(void **state)
{
    void (*const crashes[])(void) = { write_to_nothing, kill_oneself, raise_bus,
                                      read_behind_the_file, overflow_the_stack };

    (void)state;
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        int without = status_of(crashes[i], false);

        assert_true(WIFSIGNALED(without));
        assert_int_equal(status_of(crashes[i], true), without);
    }
    assert_int_equal(WTERMSIG(status_of(crash_in_a_scan, true)), SIGSEGV);
}

static void where_the_program_ignores_faults_ours_is_not_taken(void **state)
{
    struct sigaction now;

    (void)state;
    signal(SIGSEGV, SIG_IGN);
    assert_false(fault_handler_take());
    sigaction(SIGSEGV, NULL, &now);
    assert_true(now.sa_handler == SIG_IGN);
}

int main(void)
{
#define WITH_SIGNALS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SIGNALS(pages_that_come_and_go_while_they_are_read_are_survived),
        WITH_SIGNALS(the_program_s_handler_gets_its_own_faults),
        WITH_SIGNALS(what_is_sent_to_the_program_s_handler_comes_as_it_was_sent),
        WITH_SIGNALS(stacks_for_signals_stay_the_program_s),
        WITH_SIGNALS(a_signal_that_is_sent_in_a_scan_comes_behind_the_tick),
        WITH_SIGNALS(a_crash_stays_a_crash),
        WITH_SIGNALS(where_the_program_ignores_faults_ours_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
