/* The main thread ends first; the others work on and start more, and the last one ends the
 * process with its status. */
#include "torture.h"

HOT static void late_spin(void)
{
    spin(150);
    __asm__ volatile("");
}

static void *later(void *unused)
{
    late_spin();
    return unused;
}

static void *last(void *main_thread)
{
    CHECK(pthread_join(*(pthread_t *)main_thread, NULL) == 0);
    run_threads(3, later, NULL);
    fine();
    return NULL;
}

int main(void)
{
    static pthread_t self;
    pthread_t thread;

    begin();
    self = pthread_self();
    spin(50);
    CHECK(pthread_create(&thread, NULL, last, &self) == 0);
    pthread_exit(NULL);
}
