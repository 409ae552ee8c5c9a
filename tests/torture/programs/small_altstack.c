/* small_altstack BYTES: handlers on an alternate stack of so many bytes, with ticks above them and
 * on the thread's own stack; below the alternate stack lies forbidden memory. */
#include "torture.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUNDS = 400 };

static _Atomic int seen;
static long bytes;

static void on_altstack(int number)
{
    spin_us(300);
    seen += number == SIGUSR1;
}

static void *body(void *unused)
{
    char *memory = mmap(NULL, (size_t)(bytes + PAGE), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = { .ss_sp = memory + PAGE, .ss_size = (size_t)bytes };

    CHECK(memory != MAP_FAILED && mprotect(memory, PAGE, PROT_NONE) == 0);
    CHECK(sigaltstack(&stack, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
        spin_us(300);
    }
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0 && munmap(memory, (size_t)(bytes + PAGE)) == 0);
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_flags = SA_ONSTACK | SA_RESTART };

    begin();
    CHECK(argc == 2);
    bytes = atol(argv[1]);
    printf("a signal's frame takes %lu bytes here\n", getauxval(AT_MINSIGSTKSZ));
    action.sa_handler = on_altstack;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    run_threads(2, body, NULL);
    CHECK(seen == 2 * ROUNDS);
    return fine();
}
