#include "chain_columns.h"

#include "../../base/grow.h"
#include "../../naming/registry.h"
#include "../../store/frame.h"

enum { COUNT, MODULE, OFFSET, LENGTH, FUNCTION, LINE, INLINED, FILE_, COLUMNS };

enum { LINE_MAX_ = (1 << 30) - 1 };

bool chain_list_put(struct chain_list *list, uint64_t frame, const struct chain_frame *places,
                    uint32_t count)
{
    if (!GROW(list->chains, list->count, list->capacity))
        return false;
    list->chains[list->count] = (struct listed_chain){ frame, list->place_count, count };
    for (uint32_t i = 0; i < count; i++) {
        if (!GROW(list->places, list->place_count, list->place_capacity))
            return false;
        list->places[list->place_count++] = places[i];
    }
    list->count++;
    return true;
}

static int by_frame(const void *left, const void *right)
{
    const struct listed_chain *a = left, *b = right;

    return a->frame < b->frame ? -1 : a->frame > b->frame;
}

void chain_list_sort(struct chain_list *list)
{
    if (list->count)
        qsort(list->chains, list->count, sizeof(*list->chains), by_frame);
}

void chain_list_clear(struct chain_list *list)
{
    list->count = list->place_count = 0;
}

void chain_state_free(struct chain_state *state)
{
    map64_free(&state->lines);
    map64_free(&state->files);
    *state = (struct chain_state){ 0 };
}

void chain_list_free(struct chain_list *list)
{
    free(list->chains);
    free(list->places);
    *list = (struct chain_list){ 0 };
}

static uint32_t file_number(struct functions *functions, const char *file)
{
    uint32_t number = 0;

    functions_file(functions, file, &number);
    return number;
}

/* The place's, as it was with the function's place before; NULL: no memory. */
static uint32_t *last_of(struct map64 *last, uint32_t function)
{
    bool added;

    return map64_put(last, function, &added);
}

static void write_place(const struct chain_frame *place, struct functions *functions,
                        struct bytes *list, struct chain_state *state)
{
    uint32_t file = place->file ? file_number(functions, place->file) : 0;
    uint32_t *last_line = last_of(&state->lines, place->function);
    uint32_t *last_file = last_of(&state->files, place->function);

    list->failed |= !last_line || !last_file;
    if (list->failed)
        return;
    bytes_varint(&list[FUNCTION], place->function);
    bytes_signed(&list[LINE], (int64_t)place->line - *last_line);
    bytes_varint(&list[INLINED], place->inlined);
    bytes_varint(&list[FILE_], file == *last_file ? 0 : file + 1);
    *last_line = place->line;
    *last_file = file;
}

void chain_columns_write(const struct chain_list *list, uint32_t first, uint32_t end,
                         struct functions *functions, struct chain_state *state,
                         struct columns *columns, struct bytes *out)
{
    struct bytes *to = columns->list;
    uint64_t offset = 0;

    columns_begin(columns, COLUMNS);
    bytes_varint(&to[COUNT], end - first);
    for (uint32_t i = first; i < end; i++) {
        const struct listed_chain *chain = &list->chains[i];

        bytes_varint(&to[MODULE], FRAME_KEY_MODULE(chain->frame));
        bytes_signed(&to[OFFSET], (int64_t)(FRAME_KEY_OFFSET(chain->frame) - offset));
        bytes_varint(&to[LENGTH], chain->count);
        for (uint32_t place = 0; place < chain->count; place++)
            write_place(&list->places[chain->first + place], functions, to, state);
        offset = FRAME_KEY_OFFSET(chain->frame);
    }
    columns_end(columns, out);
}

struct chain_reading {
    struct column list[COLUMNS];
    const struct function_numbers *numbers;
    struct functions *functions;
    struct chain_state *state;
    int64_t offset;
};

static uint32_t function_of(const struct chain_reading *reading, uint64_t number)
{
    if (!number || number >= FUNCTIONS_MAX)
        return 0;
    if (!reading->numbers->keep)
        return map64_find(&reading->numbers->functions, number);
    return functions_has(reading->functions, (uint32_t)number) ? (uint32_t)number : 0;
}

static const char *read_place(struct chain_reading *reading, struct chain_frame *out)
{
    uint64_t function = column_varint(&reading->list[FUNCTION]);
    uint64_t inlined = column_varint(&reading->list[INLINED]);
    uint64_t file = column_varint(&reading->list[FILE_]);
    uint32_t *last_line, *last_file, here;
    int64_t line;

    if (function >= FUNCTIONS_MAX || (function && !function_of(reading, function)))
        return "a chain has a function that is not there";
    last_line = last_of(&reading->state->lines, (uint32_t)function);
    last_file = last_of(&reading->state->files, (uint32_t)function);
    if (!last_line || !last_file)
        return "out of memory";
    if (__builtin_add_overflow(*last_line, column_signed(&reading->list[LINE]), &line) ||
        line < 0 || line > LINE_MAX_ || inlined > 1)
        return "a line of a chain is out of range";
    *last_line = (uint32_t)line;
    *last_file = file && file < NAMES_MAX ? (uint32_t)file - 1 : file ? NAMES_MAX : *last_file;
    here = *last_file ? map64_find(&reading->numbers->files, *last_file) : 0;
    if (*last_file && !here)
        return "a chain has a file that is not there";
    *out = (struct chain_frame){ .function = function_of(reading, function),
                                 .line = (uint32_t)line & LINE_MAX_,
                                 .inlined = inlined & 1,
                                 .file = functions_file_path(reading->functions, here) };
    return NULL;
}

/* In the profile. */
static uint64_t frame_of(const struct function_numbers *numbers, uint64_t module, int64_t offset)
{
    uint64_t here = (uint64_t)offset;

    if (numbers->offsets[module] == OFFSETS_CODES)
        here = code_numbers_learn(numbers->codes, here);
    return FRAME_KEY(numbers->modules[module], here);
}

static const char *read_chain(struct chain_reading *reading, struct inline_chains *chains)
{
    struct chain_frame places[INLINE_CHAIN_MAX];
    uint64_t module = column_varint(&reading->list[MODULE]);
    uint64_t length = column_varint(&reading->list[LENGTH]);
    const char *reason = NULL;

    reading->offset =
        (int64_t)((uint64_t)reading->offset + (uint64_t)column_signed(&reading->list[OFFSET]));
    if (module > MODULES_MAX || !reading->numbers->modules[module])
        return "a chain is of a module that is not there";
    if (reading->offset < 0 || reading->offset >> 48 || !length || length > INLINE_CHAIN_MAX)
        return "a chain's offset or length is out of range";
    for (uint64_t i = 0; i < length && !reason; i++)
        reason = read_place(reading, &places[i]);
    if (!reason && inline_chains_put(chains, frame_of(reading->numbers, module, reading->offset),
                                     places, (uint32_t)length) < 0)
        reason = "out of memory";
    return reason;
}

const char *chain_columns_read(const struct bytes *content, const struct function_numbers *numbers,
                               struct functions *functions, struct chain_state *state,
                               struct inline_chains *chains)
{
    struct chain_reading reading = { .numbers = numbers, .functions = functions, .state = state };
    const char *reason = NULL;
    uint64_t count;

    if (!columns_split(content->data, content->count, reading.list, COLUMNS))
        return "its columns are not whole";
    count = column_varint(&reading.list[COUNT]);
    for (uint64_t i = 0; i < count && !reason; i++) {
        /* Checked as it goes: a count may be a lie, a column's end is none. */
        reason = read_chain(&reading, chains);
        for (int column = 0; column < COLUMNS && !reason; column++)
            if (reading.list[column].bad)
                reason = "its columns are too short";
    }
    for (int column = 0; column < COLUMNS && !reason; column++)
        if (!column_is_done(&reading.list[column]))
            reason = "its columns are too long";
    return reason;
}
