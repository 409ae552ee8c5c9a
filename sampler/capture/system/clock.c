#include "clock.h"

_Atomic bool clock_asks_kernel;

void clock_ask_kernel(void)
{
    atomic_store_explicit(&clock_asks_kernel, true, memory_order_relaxed);
}
