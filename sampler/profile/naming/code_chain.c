#include "code_chain.h"

#include "code_lines.h"

/* "" is no file: then the function is known by its place alone. */
static const char *file_of(const struct feed_code_text *code)
{
    return code->file_bytes ? code->file : NULL;
}

bool code_chain(const struct codes *codes, struct functions *functions, const struct module *module,
                uint64_t offset, struct chain_frame *out)
{
    uint32_t number = CODE_OFFSET_NUMBER(offset), position = CODE_OFFSET_POSITION(offset);
    struct feed_code_text code;
    uint32_t line;

    if (!codes_get(codes, number, &code))
        return false;
    const struct function_source source = { .module = module->number,
                                            .start = CODE_OFFSET(number, 0),
                                            .size = 1 << 24,
                                            .source_name =
                                                code.name_bytes ? code.name : "<unnamed>",
                                            .file = file_of(&code),
                                            .line = code.first_line };
    line = position == FEED_NO_POSITION ? 0 : code_line(&code, position);
    *out = (struct chain_frame){ .function = functions_number(functions, &source),
                                 .line = line & ((1u << 30) - 1) };
    return out->function != 0;
}
