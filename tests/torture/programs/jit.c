/* Code made at run time, without unwind data, that comes, runs and goes while ticks hit it. */
#include "torture.h"

#include <sys/mman.h>

enum { BLOCKS = 400, CALLS = 30, LOOPS = 60000, PAGE = 4096 };

/* A function that counts LOOPS down and returns value. */
static void write_code(unsigned char *code, unsigned value)
{
#if defined(__x86_64__)
    unsigned char bytes[] = { 0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xb8, 0, 0, 0, 0, 0xc3 };

    memcpy(bytes + 1, &(unsigned){ LOOPS }, 4);
    memcpy(bytes + 10, &value, 4);
    memcpy(code, bytes, sizeof bytes);
#elif defined(__aarch64__)
    unsigned words[] = { 0x52800001u | LOOPS << 5, 0x71000421u, 0x54ffffe1u,
                         0x52800000u | value << 5, 0xd65f03c0u };

    memcpy(code, words, sizeof words);
    __builtin___clear_cache((char *)code, (char *)code + sizeof words);
#else
#error "no code for this processor"
#endif
}

int main(void)
{
    begin();
    for (unsigned value = 1; value <= BLOCKS; value++) {
        unsigned char *code =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK(code != MAP_FAILED);
        write_code(code, value);
        CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
        for (int i = 0; i < CALLS; i++)
            CHECK(((unsigned (*)(void))code)() == value);
        CHECK(munmap(code, PAGE) == 0);
    }
    return fine();
}
