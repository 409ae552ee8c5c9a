/* Memory that is made readable by a SIGSEGV handler, as collectors do; the handler itself meets
 * another such page, so handlers stand on handlers, with ticks at all levels. */
#include "torture.h"

#include <signal.h>
#include <sys/mman.h>

enum { PAGES = 64, PAGE = 4096, ROUNDS = 60 };

static char *outer, *inner;
static _Atomic int faults;

static void open_page(int number, siginfo_t *info, void *context)
{
    char *page = (char *)((unsigned long)info->si_addr & -(unsigned long)PAGE);

    (void)number;
    (void)context;
    CHECK((page >= outer && page < outer + PAGES * PAGE) ||
          (page >= inner && page < inner + PAGES * PAGE));
    faults++;
    if (page >= outer && page < outer + PAGES * PAGE) {
        volatile char *other = inner + (page - outer);

        spin_us(10);
        *other = 1;
    }
    CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
    spin_us(10);
}

int main(void)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };

    begin();
    action.sa_sigaction = open_page;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    outer = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    inner = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(outer != MAP_FAILED && inner != MAP_FAILED);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PAGES; i++)
            ((volatile char *)outer)[i * PAGE] = 1;
        CHECK(faults == (round + 1) * 2 * PAGES);
        CHECK(mprotect(outer, PAGES * PAGE, PROT_NONE) == 0);
        CHECK(mprotect(inner, PAGES * PAGE, PROT_NONE) == 0);
    }
    return fine();
}
