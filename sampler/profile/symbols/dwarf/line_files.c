#include "line_table.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../../base/grow.h"
#include "line_header.h"

#include <dwarf.h>

enum { FORMATS_MAX = 255 };

struct directories {
    const char **texts;
    uint32_t count, capacity;
};

/* What an entry of version 5 is made of. */
struct formats {
    uint8_t count;
    struct {
        uint64_t kind, form;
    } parts[FORMATS_MAX];
};

struct entry {
    const char *path;
    uint64_t directory;
};

void line_files_free(struct line_files *files)
{
    free(files->files);
    *files = (struct line_files){ 0 };
}

static void free_directories(struct directories *directories)
{
    free(directories->texts);
}

static int add_directory(struct directories *directories, const char *text)
{
    if (!GROW(directories->texts, directories->count, directories->capacity))
        return -ISOSCOPE_NO_MEMORY;
    directories->texts[directories->count++] = text;
    return 0;
}

static int add_file(struct line_files *files, const struct directories *directories,
                    const struct entry *entry)
{
    if (!GROW(files->files, files->count, files->capacity))
        return -ISOSCOPE_NO_MEMORY;
    files->files[files->count++] =
        (struct line_file){ .name = entry->path,
                            .directory = entry->directory < directories->count
                                             ? directories->texts[entry->directory]
                                             : NULL };
    return 0;
}

/* Up to version 4: number 0 is the unit's directory, and no file. */
static int read_old(struct line_files *files, struct directories *directories,
                    struct cursor *cursor)
{
    struct entry entry = { 0 };

    if (add_directory(directories, NULL) < 0 || add_file(files, directories, &entry) < 0)
        return -ISOSCOPE_NO_MEMORY;
    for (;;) {
        const char *text = cursor_text(cursor);

        if (!text[0])
            break;
        if (add_directory(directories, text) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    while ((entry.path = cursor_text(cursor))[0]) {
        entry.directory = cursor_uleb(cursor);
        cursor_uleb(cursor); /* when it was written */
        cursor_uleb(cursor); /* its bytes */
        if (!cursor->failed && add_file(files, directories, &entry) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

static void read_formats(struct formats *formats, struct cursor *cursor)
{
    formats->count = cursor_u8(cursor);
    for (uint32_t i = 0; i < formats->count; i++) {
        formats->parts[i].kind = cursor_uleb(cursor);
        formats->parts[i].form = cursor_uleb(cursor);
    }
}

static const char *text_at(struct bytes section, uint64_t place)
{
    struct cursor cursor = cursor_of(section, place);

    return cursor_text(&cursor);
}

static const char *read_text(struct cursor *cursor, uint64_t form, const struct unit_shape *shape,
                             const struct dwarf_sections *sections)
{
    switch (form) {
    case DW_FORM_string:
        return cursor_text(cursor);
    case DW_FORM_line_strp:
        return text_at(sections->line_str, cursor_number(cursor, shape->offset_bytes));
    case DW_FORM_strp:
        return text_at(sections->str, cursor_number(cursor, shape->offset_bytes));
    default:
        form_skip(cursor, form, shape);
        return "";
    }
}

static void read_entry(struct entry *out, struct cursor *cursor, const struct formats *formats,
                       const struct unit_shape *shape, const struct dwarf_sections *sections)
{
    *out = (struct entry){ .path = "" };
    for (uint32_t i = 0; i < formats->count; i++) {
        uint64_t form = formats->parts[i].form;

        if (formats->parts[i].kind == DW_LNCT_path)
            out->path = read_text(cursor, form, shape, sections);
        else if (formats->parts[i].kind != DW_LNCT_directory_index)
            form_skip(cursor, form, shape);
        else if (!form_number(cursor, form, shape, &out->directory))
            out->directory = 0;
    }
}

/* Moves to the next entry. One without bytes ends the table: there could be any number of them. */
static bool next_entry(struct entry *out, struct cursor *cursor, const struct formats *formats,
                       const struct unit_shape *shape, const struct dwarf_sections *sections)
{
    const uint8_t *before = cursor->at;

    read_entry(out, cursor, formats, shape, sections);
    return !cursor->failed && cursor->at != before;
}

static int read_new(struct line_files *files, struct directories *directories,
                    struct cursor *cursor, const struct unit_shape *shape,
                    const struct dwarf_sections *sections)
{
    struct formats formats;
    struct entry entry;

    read_formats(&formats, cursor);
    for (uint64_t left = cursor_uleb(cursor);
         left > 0 && next_entry(&entry, cursor, &formats, shape, sections); left--)
        if (add_directory(directories, entry.path) < 0)
            return -ISOSCOPE_NO_MEMORY;
    read_formats(&formats, cursor);
    for (uint64_t left = cursor_uleb(cursor);
         left > 0 && next_entry(&entry, cursor, &formats, shape, sections); left--)
        if (add_file(files, directories, &entry) < 0)
            return -ISOSCOPE_NO_MEMORY;
    return 0;
}

int line_files_read(struct line_files *out, const struct dwarf_sections *sections, uint64_t place)
{
    CLEANUP(line_files_free) struct line_files files = { 0 };
    CLEANUP(free_directories) struct directories directories = { 0 };
    struct line_header header;
    int status = 0;

    if (!line_header_read(&header, sections->line, place))
        return 0;
    if (header.shape.version >= 5)
        status = read_new(&files, &directories, &header.names, &header.shape, sections);
    else
        status = read_old(&files, &directories, &header.names);
    *out = files;
    files = (struct line_files){ 0 };
    return status;
}
