/*
 * switch_cost.h - what a perf timer costs a thread each time it goes off a processor.
 *
 * The kernel takes the timer of a thread that leaves a processor out of the processor's own, and
 * sets it again when the thread comes back: a few hundred ns on bare hardware, 10 us and more in a
 * virtual machine, where the hypervisor has to be asked. `perf record` pays the same.
 *
 * Units      ns.
 * Threads    The sampler's thread.
 * Errors     0 where it cannot be measured.
 */
#ifndef ISOSCOPE_SWITCH_COST_H
#define ISOSCOPE_SWITCH_COST_H

#include <stdint.h>

/* Both ways, as where the processor has nothing else to do meanwhile. Measured once, in less than a
 * millisecond: a timer that would be the processor's next, beside one that would not. */
uint32_t switch_cost_ns(void);

#endif
