/*
 * perf_registers.h - the registers of user mode in a perf sample: one file for each processor.
 *
 * Source     perf_event_open(2), "PERF_SAMPLE_REGS_USER"; <asm/perf_regs.h>: a bit for each register, in the record by ascending
 *            bits.
 */
#ifndef ISOSCOPE_PERF_REGISTERS_H
#define ISOSCOPE_PERF_REGISTERS_H

#if defined(__x86_64__)
#include "perf_registers_x86_64.h"
#elif defined(__aarch64__)
#include "perf_registers_aarch64.h"
#endif

#endif
