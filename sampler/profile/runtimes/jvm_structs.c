#include "jvm_structs.h"

#include "runtime_file.h"

#include "../../capture/system/memory.h"
#include "../../feed/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 96, TEXT_STEP = 16, STRIDE_MAX = 128, ENTRIES_MAX = 16384 };

static bool read_word(const struct runtime_module *module, const char *symbol, uint64_t *out)
{
    uint64_t vaddr;

    return runtime_file_symbol(module->file, symbol, &vaddr, NULL) &&
           memory_read(module->pid, out, module->bias + vaddr, sizeof *out);
}

/* Texts stand in the file. False: it is none, or too long for one that is looked for. */
static bool read_text(const struct runtime_module *module, uint64_t address, char out[TEXT_BYTES])
{
    for (uint32_t used = 0; used < TEXT_BYTES; used += TEXT_STEP) {
        if (!runtime_file_bytes(module->file, address - module->bias + used, out + used,
                                TEXT_STEP) &&
            !memory_read(module->pid, out + used, address + used, TEXT_STEP))
            return false;
        if (memchr(out + used, 0, TEXT_STEP))
            return true;
    }
    return false;
}

/* One of the tables, entry by entry. */
struct table {
    const struct runtime_module *module;
    uint64_t next, stride;
    uint32_t left;
    uint8_t entry[STRIDE_MAX];
};

static bool table_begin(struct table *table, const struct runtime_module *module, const char *first,
                        const char *stride)
{
    *table = (struct table){ .module = module, .left = ENTRIES_MAX };
    return read_word(module, first, &table->next) && table->next &&
           read_word(module, stride, &table->stride) && table->stride >= 16 &&
           table->stride <= STRIDE_MAX;
}

static bool table_next(struct table *table)
{
    if (!table->left-- ||
        !memory_read(table->module->pid, table->entry, table->next, table->stride))
        return false;
    table->next += table->stride;
    return true;
}

static uint64_t entry_word(const struct table *table, uint64_t offset)
{
    uint64_t word = 0;

    if (offset <= STRIDE_MAX - sizeof word)
        memcpy(&word, table->entry + offset, sizeof word);
    return word;
}

static int32_t entry_int(const struct table *table, uint64_t offset)
{
    return (int32_t)entry_word(table, offset);
}

#define FIELD_ROW(name, type, field) { type, field },
static const struct {
    const char *type, *field;
} field_rows[] = { JVM_FIELDS(FIELD_ROW) };

#define NAME_ROW(name, text) text,
static const char *const size_rows[] = { JVM_SIZES(NAME_ROW) };
static const char *const constant_rows[] = { JVM_CONSTANTS(NAME_ROW) };

static bool is_wanted_type(const char *type)
{
    for (uint32_t i = 0; i < JVM_FIELD_COUNT; i++)
        if (!strcmp(field_rows[i].type, type))
            return true;
    return false;
}

static void take_field(struct jvm_structs *out, const char *type, const char *field, uint64_t value)
{
    for (uint32_t i = 0; i < JVM_FIELD_COUNT; i++)
        if (!strcmp(field_rows[i].type, type) && !strcmp(field_rows[i].field, field))
            out->fields[i] = (struct jvm_value){ true, value };
}

struct field_layout {
    uint64_t type, field, is_static, offset, address;
};

static bool read_fields(const struct runtime_module *module, struct jvm_structs *out)
{
    struct table table;
    struct field_layout at;
    uint64_t last = 0;
    bool wanted = false;
    char type[TEXT_BYTES], field[TEXT_BYTES];

    if (!table_begin(&table, module, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride") ||
        !read_word(module, "gHotSpotVMStructEntryTypeNameOffset", &at.type) ||
        !read_word(module, "gHotSpotVMStructEntryFieldNameOffset", &at.field) ||
        !read_word(module, "gHotSpotVMStructEntryIsStaticOffset", &at.is_static) ||
        !read_word(module, "gHotSpotVMStructEntryOffsetOffset", &at.offset) ||
        !read_word(module, "gHotSpotVMStructEntryAddressOffset", &at.address))
        return false;
    while (table_next(&table)) {
        uint64_t name = entry_word(&table, at.type);

        if (!name)
            return true;
        /* A type's fields stand together. */
        if (name != last)
            wanted = read_text(module, name, type) && is_wanted_type(type);
        last = name;
        if (wanted && read_text(module, entry_word(&table, at.field), field))
            take_field(
                out, type, field,
                entry_word(&table, entry_int(&table, at.is_static) ? at.address : at.offset));
    }
    return false;
}

static void take_named(struct jvm_value *out, const char *const *rows, uint32_t count,
                       const char *name, uint64_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(rows[i], name))
            out[i] = (struct jvm_value){ true, value };
}

static bool read_sizes(const struct runtime_module *module, struct jvm_structs *out)
{
    struct table table;
    uint64_t name_at, size_at, name;
    char text[TEXT_BYTES];

    if (!table_begin(&table, module, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride") ||
        !read_word(module, "gHotSpotVMTypeEntryTypeNameOffset", &name_at) ||
        !read_word(module, "gHotSpotVMTypeEntrySizeOffset", &size_at))
        return false;
    while (table_next(&table)) {
        name = entry_word(&table, name_at);
        if (!name)
            return true;
        if (read_text(module, name, text))
            take_named(out->sizes, size_rows, JVM_SIZE_COUNT, text, entry_word(&table, size_at));
    }
    return false;
}

static bool read_constants(const struct runtime_module *module, struct jvm_structs *out)
{
    struct table table;
    uint64_t name_at, value_at, name;
    char text[TEXT_BYTES];

    if (!table_begin(&table, module, "gHotSpotVMIntConstants",
                     "gHotSpotVMIntConstantEntryArrayStride") ||
        !read_word(module, "gHotSpotVMIntConstantEntryNameOffset", &name_at) ||
        !read_word(module, "gHotSpotVMIntConstantEntryValueOffset", &value_at))
        return false;
    while (table_next(&table)) {
        name = entry_word(&table, name_at);
        if (!name)
            return true;
        if (read_text(module, name, text))
            take_named(out->constants, constant_rows, JVM_CONSTANT_COUNT, text,
                       (uint64_t)(int64_t)entry_int(&table, value_at));
    }
    return false;
}

bool jvm_structs_read(const struct runtime_module *module, struct jvm_structs *out)
{
    memset(out, 0, sizeof *out);
    return read_fields(module, out) && read_sizes(module, out) && read_constants(module, out);
}
