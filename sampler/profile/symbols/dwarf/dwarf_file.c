#include "dwarf_file.h"

#include "../../../feed/cleanup.h"
#include "../files/debug_file.h"
#include "../files/elf_file.h"

#include <gelf.h>
#include <stdio.h>

enum { NAME_BYTES = 32, PACKED_BY_ZSTD = 2 };

static struct bytes section_of(Elf *elf, const char *name)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return (struct bytes){ 0 };
    while ((section = elf_nextscn(elf, section))) {
        const char *found;
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        found = elf_strptr(elf, names, header.sh_name);
        if (!found || strcmp(found, name) != 0)
            continue;
        data = elf_rawdata(section, NULL);
        if (data && data->d_buf)
            return (struct bytes){ .at = data->d_buf, .count = data->d_size };
    }
    return (struct bytes){ 0 };
}

/* libdw has decompressed them by now, in place. */
static struct bytes debug_section(Elf *elf, const char *name, bool split)
{
    char full[NAME_BYTES];
    struct bytes bytes;

    snprintf(full, sizeof(full), ".debug_%s%s", name, split ? ".dwo" : "");
    bytes = section_of(elf, full);
    if (bytes.at)
        return bytes;
    snprintf(full, sizeof(full), ".zdebug_%s%s", name, split ? ".dwo" : "");
    return section_of(elf, full);
}

void dwarf_sections_read(struct dwarf_sections *out, Dwarf *dwarf, bool split)
{
    Elf *elf = dwarf_getelf(dwarf);

    out->info = debug_section(elf, "info", split);
    out->abbrev = debug_section(elf, "abbrev", split);
    out->line = debug_section(elf, "line", split);
    out->line_str = debug_section(elf, "line_str", false);
    out->str = debug_section(elf, "str", split);
}

/* libdw unpacks all that it finds, also what neither it nor we look at for lines and functions: the
 * places of variables, macros, other indexes. They are a quarter of python3.11's debug data. */
static void hide_unused(Elf *elf)
{
    static const char *const unused[] = { ".debug_loclists", ".debug_loc",      ".debug_macro",
                                          ".debug_macinfo",  ".debug_aranges",  ".debug_frame",
                                          ".debug_names",    ".debug_pubnames", ".debug_pubtypes" };
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        const char *name;

        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED) ||
            !(name = elf_strptr(elf, names, header.sh_name)))
            continue;
        for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
            if (!strcmp(name, unused[i])) {
                header.sh_type = SHT_NOBITS; /* in libelf's copy, not in the file */
                gelf_update_shdr(section, &header);
            }
    }
}

/* Of what libdw reads. */
static size_t debug_bytes(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names, bytes = 0;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return 0;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = NULL;

        if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS)
            name = elf_strptr(elf, names, header.sh_name);
        if (name && strstr(name, "debug_"))
            bytes += header.sh_size;
    }
    return bytes;
}

static bool has_end(struct bytes texts)
{
    return !texts.count || !texts.at[texts.count - 1];
}

/* libdw hands out texts without a look at their end. */
static bool texts_end(Dwarf *dwarf)
{
    struct dwarf_sections sections;

    if (!dwarf)
        return true;
    dwarf_sections_read(&sections, dwarf, false);
    return has_end(sections.str) && has_end(sections.line_str);
}

/* Of what libdw could not unpack: older ones of libelf know zlib only. */
static bool is_packed_by_zstd(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Chdr packed;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED) &&
            gelf_getchdr(section, &packed) && packed.ch_type == PACKED_BY_ZSTD)
            return true;
    return false;
}

static struct elf_file *open_elf(const struct module_file *module, const char **reason)
{
    struct elf_file *file = module_file_open(module, reason), *debug;

    if (file && elf_file_has_dwarf(file))
        return file;
    debug = debug_file_open(module, file);
    if (file && !debug)
        *reason = "the file has no debug information";
    elf_file_close(file);
    if (!debug || elf_file_has_dwarf(debug))
        return debug;
    elf_file_close(debug);
    *reason = "the debug file has no debug information";
    return NULL;
}

bool dwarf_file_open(struct dwarf_file *out, const struct module_file *module, const char **reason)
{
    struct dwarf_file file = { .elf = open_elf(module, reason) };

    if (!file.elf)
        return false;
    hide_unused(elf_file_elf(file.elf));
    file.alt = debug_file_alt(module, file.elf);
    if (!file.alt && debug_file_has_altlink(file.elf)) {
        /* libdw would open whatever it names, also a pipe. */
        *reason = "its alternate debug file (made by dwz) is missing";
    } else if (!dwarf_file_reopen(&file)) {
        *reason = "the debug information cannot be read";
    } else if (is_packed_by_zstd(elf_file_elf(file.elf))) {
        *reason = "its debug information is packed with zstd, which the libelf here cannot read";
    } else if (!texts_end(file.dwarf) || !texts_end(file.alt_dwarf)) {
        *reason = "the debug information is damaged";
    } else {
        dwarf_sections_read(&file.sections, file.dwarf, false);
        /* What the linker threw away is often still told of, at addresses near 0. */
        elf_file_code(file.elf, &file.code_start, &file.code_end);
        file.section_bytes = debug_bytes(elf_file_elf(file.elf));
        *out = file;
        *reason = NULL;
        return true;
    }
    dwarf_file_close(&file);
    return false;
}

void dwarf_file_close(struct dwarf_file *file)
{
    dwarf_end(file->dwarf);
    dwarf_end(file->alt_dwarf);
    elf_file_close(file->alt);
    elf_file_close(file->elf);
    *file = (struct dwarf_file){ 0 };
}

bool dwarf_file_reopen(struct dwarf_file *file)
{
    dwarf_end(file->dwarf);
    dwarf_end(file->alt_dwarf);
    /* The decompressed sections stay with the Elf. */
    file->dwarf = dwarf_begin_elf(elf_file_elf(file->elf), DWARF_C_READ, NULL);
    file->alt_dwarf = NULL;
    if (file->alt)
        file->alt_dwarf = dwarf_begin_elf(elf_file_elf(file->alt), DWARF_C_READ, NULL);
    if (file->dwarf && file->alt_dwarf)
        dwarf_setalt(file->dwarf, file->alt_dwarf);
    return file->dwarf && (!file->alt || file->alt_dwarf);
}

static bool lies_in(struct bytes bytes, const char *text)
{
    return (uintptr_t)text - (uintptr_t)bytes.at < bytes.count;
}

bool dwarf_file_holds(const struct dwarf_file *file, const char *text)
{
    return lies_in(file->sections.str, text) || lies_in(file->sections.info, text) ||
           lies_in(file->sections.line_str, text) || lies_in(file->sections.line, text);
}

size_t dwarf_file_bytes(const struct dwarf_file *file)
{
    return file->section_bytes;
}
