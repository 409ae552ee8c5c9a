/*
 * arch.h - the processor's part of the unwinder, one file each, mirroring each other.
 */
#ifndef ISOSCOPE_ARCH_H
#define ISOSCOPE_ARCH_H

#if defined(__x86_64__)
#include "arch_x86_64.h"
#elif defined(__aarch64__)
#include "arch_aarch64.h"
#endif

#endif
