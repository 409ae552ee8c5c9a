/* A function whose seldom part the compiler puts elsewhere, as interpreters' loops have it. */
#include <stdio.h>

void seldom(int *value);

__attribute__((cold, noinline)) void seldom(int *value)
{
    fprintf(stderr, "%d\n", *value);
    *value = 0;
}

int mostly(int *values, int count);

int mostly(int *values, int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        if (values[i] < 0)
            seldom(&values[i]);
        sum += values[i] * values[count - i - 1];
    }
    return sum;
}

int plain(int value);

int plain(int value)
{
    return 3 * value;
}
