#include "instructions.h"

#include "files/elf_file.h"

#include <stdlib.h>

struct instructions {
    struct elf_file *file;
    struct decoder *decoder;
    struct code_cursor cursor;
    uint8_t bytes[INSTRUCTIONS_READ_MAX];
};

/* NULL, or why it has none. */
static const char *open_file(struct instructions *instructions, const struct module_file *module)
{
    const char *reason;

    instructions->file = module_file_open(module, &reason);
    if (!instructions->file)
        return reason;
    instructions->decoder = decoder_new(elf_file_machine(instructions->file), &reason);
    return instructions->decoder ? NULL : reason;
}

struct instructions *instructions_open(const struct module_file *module, const char **reason)
{
    struct instructions *instructions = calloc(1, sizeof(*instructions));

    *reason = instructions ? open_file(instructions, module) : "out of memory";
    if (!*reason)
        return instructions;
    instructions_close(instructions);
    return NULL;
}

void instructions_close(struct instructions *instructions)
{
    if (!instructions)
        return;
    decoder_free(instructions->decoder);
    elf_file_close(instructions->file);
    free(instructions);
}

void instructions_closep(struct instructions **instructions)
{
    instructions_close(*instructions);
}

bool instructions_seek(struct instructions *instructions, struct code_part part)
{
    uint64_t size = part.end > part.start ? part.end - part.start : 0;

    if (size > sizeof(instructions->bytes))
        size = sizeof(instructions->bytes);
    instructions->cursor = (struct code_cursor){
        .bytes = instructions->bytes,
        .count = elf_file_read(instructions->file, part.start, instructions->bytes, (size_t)size),
        .offset = part.start,
    };
    return instructions->cursor.count > 0;
}

bool instructions_next(struct instructions *instructions, struct instruction *out)
{
    return decoder_next(instructions->decoder, &instructions->cursor, out);
}
