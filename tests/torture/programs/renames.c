/* Threads rename themselves all the time; each reads its own last name back. */
#include "torture.h"

enum { RENAMES = 5000 };

static void *body(void *letter)
{
    char name[16], back[16];

    for (int i = 0; i < RENAMES; i++) {
        snprintf(name, sizeof name, "%c%d \\\"\xff", *(char *)letter, i);
        CHECK(pthread_setname_np(pthread_self(), name) == 0);
        CHECK(pthread_getname_np(pthread_self(), back, sizeof back) == 0);
        CHECK(strcmp(name, back) == 0);
        spin_us(10);
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    begin();
    CHECK(pthread_create(&first, NULL, body, "a") == 0);
    CHECK(pthread_create(&second, NULL, body, "b") == 0);
    CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
    return fine();
}
