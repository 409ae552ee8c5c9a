#include "early.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

_Atomic int early_count;

static void count(int number)
{
    (void)number;
    early_count++;
}

void early_take(int number)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(number, &action, NULL);
}

int early_add(int a, int b)
{
    return a + b;
}

__attribute__((constructor)) static void first(void)
{
    if (getenv("TORTURE_EARLY"))
        early_take(atoi(getenv("TORTURE_EARLY")));
}
