/* Frames of more than a MiB, and of a size that only the run tells (alloca). */
#include "torture.h"

#include <alloca.h>

enum { BIG = 3 << 20, STACK_BYTES = 16 << 20 };

HOT static int big_frame(int value)
{
    volatile char frame[BIG];

    frame[0] = (char)value;
    frame[BIG - 1] = (char)(value + 1);
    spin(60);
    return frame[0] + frame[BIG - 1];
}

HOT static int any_frame(size_t bytes, int value)
{
    volatile char *frame = alloca(bytes);

    frame[0] = (char)value;
    frame[bytes - 1] = (char)(value + 1);
    spin_us(500);
    return frame[0] + frame[bytes - 1];
}

static void *body(void *unused)
{
    CHECK(big_frame(3) == 7);
    for (size_t bytes = 16; bytes < BIG; bytes = bytes * 5 / 4 + 3)
        CHECK(any_frame(bytes, 5) == 11);
    return unused;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    begin();
    body(NULL);
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, STACK_BYTES) == 0);
    CHECK(pthread_create(&thread, &attr, body, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return fine();
}
