/* Unmaps memory, and a little later maps something else at the very same place: nobody else is
 * there to have taken it. */
#include "torture.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum { PAGES = 64, ROUNDS = 600 };

static void look_at_hole(char *hole, size_t page)
{
    unsigned char resident;

    for (size_t i = 0; i < PAGES; i++)
        CHECK(mincore(hole + i * page, page, &resident) < 0 && errno == ENOMEM);
}

int main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;

    begin();
    for (int round = 0; round < ROUNDS; round++) {
        char *hole = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK(hole != MAP_FAILED && munmap(hole, bytes) == 0);
        CHECK(dlclose(dlopen(NULL, RTLD_NOW)) == 0); /* a sampler looks at what is mapped */
        spin_us(1000);
        look_at_hole(hole, page);
        CHECK(mmap(hole, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0) == hole);
        memset(hole, round, bytes);
        CHECK(munmap(hole, bytes) == 0);
    }
    return fine();
}
