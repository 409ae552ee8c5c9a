#include "stack_memory.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 2048 };

struct stack_page {
    uint64_t number; /* address / PAGE + 1; 0: free */
    uint32_t bytes;  /* that could be read, from its beginning on */
    uint8_t text[PAGE];
};

bool stack_memory_new(struct stack_memory *memory,
                      size_t (*read)(const void *, uint64_t, void *, size_t), const void *context)
{
    *memory = (struct stack_memory){ .read = read,
                                     .context = context,
                                     .pages = calloc(PAGES, sizeof(struct stack_page)) };
    return memory->pages;
}

void stack_memory_free(struct stack_memory *memory)
{
    free(memory->pages);
    memory->pages = NULL;
}

void stack_memory_forget(struct stack_memory *memory)
{
    for (int i = 0; i < PAGES; i++)
        memory->pages[i].number = 0;
}

/* Less than asked for where the page ends; 0: it cannot be read. */
static size_t get_in_page(struct stack_memory *memory, uint64_t address, void *out, size_t bytes)
{
    uint64_t number = address / PAGE + 1;
    struct stack_page *page = &memory->pages[number % PAGES];
    uint32_t at = (uint32_t)(address % PAGE);

    if (page->number != number) {
        page->number = number;
        page->bytes = (uint32_t)memory->read(memory->context, address - at, page->text, PAGE);
    }
    if (at >= page->bytes)
        return 0;
    if (bytes > page->bytes - at)
        bytes = page->bytes - at;
    memcpy(out, page->text + at, bytes);
    return bytes;
}

size_t stack_memory_get_some(struct stack_memory *memory, uint64_t address, void *out, size_t bytes)
{
    uint8_t *to = out;
    size_t done = 0;

    if (address - memory->copy_at < memory->copy_bytes &&
        bytes <= memory->copy_bytes - (address - memory->copy_at)) {
        memcpy(out, memory->copy + (address - memory->copy_at), bytes);
        return bytes;
    }
    while (done < bytes) {
        size_t got = get_in_page(memory, address + done, to + done, bytes - done);

        if (!got)
            break;
        done += got;
    }
    return done;
}

bool stack_memory_get(struct stack_memory *memory, uint64_t address, void *out, size_t bytes)
{
    return stack_memory_get_some(memory, address, out, bytes) == bytes;
}
