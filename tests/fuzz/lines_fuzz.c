/*
 * lines_fuzz.c - any bytes as a line table of a runtime: its kind, the first line, the position, then the table.
 *
 * Sanitizers judge. The table is a copy that ends where its bytes end.
 */
#include "sampler/profile/naming/code_lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct asked {
    uint8_t lines;
    uint8_t first_line[4], position[3];
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct asked asked;
    struct feed_code_text code = { 0 };
    uint32_t position = 0;
    uint8_t *table;

    if (count < sizeof(asked))
        return 0;
    memcpy(&asked, bytes, sizeof(asked));
    memcpy(&code.first_line, asked.first_line, sizeof(asked.first_line));
    memcpy(&position, asked.position, sizeof(asked.position));
    code.lines = (enum feed_code_lines)(asked.lines % FEED_LINES_COUNT);
    code.table_bytes = (uint32_t)(count - sizeof(asked));
    table = malloc(code.table_bytes ? code.table_bytes : 1);
    if (!table)
        return 0;
    memcpy(table, bytes + sizeof(asked), code.table_bytes);
    code.table = table;
    if (code_line(&code, position) > INT32_MAX)
        abort();
    free(table);
    return 0;
}
