/*
 * cfi.h - reads call frame information: .eh_frame bytes in, one rule per range of pcs out.
 *
 *   .eh_frame (copied out of a module) -> cfi -> unwind_table.h makes rows of it
 *   .eh_frame (of a module just loaded) -> cfi -> live_cfi.h, in the handler
 *
 * It follows only what unwinding needs: the CFA, the return address, the saved frame pointer, and
 * the third register (ARCH_THIRD), by which a few functions find their CFA.
 *
 * Units      Addresses are ELF vaddrs: the module's bias is not in them.
 * Signals    All SIGNAL_SAFE: pure functions over memory the caller vouches for, and never outside
 *            it.
 * Errors     false: the bytes end, or make no sense there.
 * Source     DWARF 5, section 6.4; Linux Standard Base 5.0, 10.6 (augmentations, .eh_frame_hdr).
 */
#ifndef ISOSCOPE_CFI_H
#define ISOSCOPE_CFI_H

#include "../system/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes and the vaddr of the first one. */
struct cfi_bytes {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t vaddr;
};

enum cfi_cfa {
    CFI_CFA_REG,   /* reg + offset */
    CFI_CFA_DEREF, /* *(reg + offset) + add: a realigned stack, or hand-written assembly */
    CFI_CFA_PLT,   /* sp + offset, + 8 when (pc & 15) >= add: the x86-64 PLT's own expression */
    CFI_CFA_UNSUPPORTED, /* some other expression */
};

enum cfi_place {
    CFI_SAME,        /* still in the register */
    CFI_AT_CFA,      /* saved at CFA + offset */
    CFI_AT_REG,      /* saved at reg + offset */
    CFI_UNDEFINED,   /* gone; for the return address: the thread's first frame */
    CFI_UNSUPPORTED, /* some other expression, or in another register */
};

struct cfi_rule {
    uint8_t cfa;     /* cfi_cfa */
    uint8_t cfa_reg; /* DWARF number */
    uint8_t fp, ra;  /* cfi_place */
    uint8_t fp_reg;
    uint8_t third, third_reg; /* as fp */
    int32_t cfa_offset, cfa_add;
    int32_t fp_offset, ra_offset, third_offset;
};

enum { CFI_REMEMBER_MAX = 8 };

/* One function's program, run row by row. */
struct cfi_program {
    uint64_t start, end; /* the function: vaddrs */
    bool signal_frame;   /* the kernel's frame of a signal handler */

    uint64_t pc; /* where the next row begins */
    struct cfi_rule rule, initial, remembered[CFI_REMEMBER_MAX];
    int remember_count;
    const uint8_t *at, *at_end;         /* instructions not yet run */
    const uint8_t *fde_at, *fde_at_end; /* the function's own, while the CIE's are run */
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    uint64_t vaddr_of_bytes;
    const uint8_t *bytes;
};

/* The FDE at offset of eh_frame. false: a CIE, the terminator, or nonsense. */
SIGNAL_SAFE bool cfi_program_at(struct cfi_program *out, const struct cfi_bytes *eh_frame,
                                uint64_t offset);

/* The next row: rule holds for [*from, the next row's from) or to the function's end. false: no
 * more. */
SIGNAL_SAFE bool cfi_next_row(struct cfi_program *program, uint64_t *from, struct cfi_rule *rule);

/* Steps over one record. *offset is moved to the next one; false at the end. */
SIGNAL_SAFE bool cfi_next_record(const struct cfi_bytes *eh_frame, uint64_t *offset);

/* .eh_frame_hdr: where .eh_frame begins, and its sorted table of FDEs. */
struct cfi_header {
    uint64_t eh_frame_vaddr;
    uint64_t fde_count;   /* 0: no table that can be used */
    const uint8_t *table; /* fde_count pairs of int32: pc and FDE, relative to the header */
    uint64_t header_vaddr;
};
SIGNAL_SAFE bool cfi_header_read(struct cfi_header *out, const struct cfi_bytes *header);
/* The FDE that may cover the address: the last one that begins at or before it. false: none. */
SIGNAL_SAFE bool cfi_header_find(const struct cfi_header *header, uint64_t vaddr,
                                 uint64_t *fde_vaddr);
/* index < fde_count. */
SIGNAL_SAFE uint64_t cfi_header_fde_vaddr(const struct cfi_header *header, uint64_t index);

#endif
