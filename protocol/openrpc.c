#include "openrpc.h"

/* The file's bytes as they are: C has no word for it, and all assemblers have. */
__asm__(".section .rodata\n"
        ".global openrpc_text, openrpc_end\n"
        ".hidden openrpc_text, openrpc_end\n"
        "openrpc_text: .incbin \"" OPENRPC_FILE "\"\n"
        "openrpc_end:\n"
        ".previous\n");

extern const char openrpc_end[];

size_t openrpc_length(void)
{
    return (size_t)(openrpc_end - openrpc_text);
}
