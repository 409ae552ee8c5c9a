#include "openrpc.h"

/* The file's bytes as they are: C has no word for it, and all assemblers have. */
__asm__(".section .rodata\n"
        ".global openrpc_text\n"
        ".hidden openrpc_text\n"
        "openrpc_text: .incbin \"" OPENRPC_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");
