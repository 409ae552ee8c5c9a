#include "unit_dies.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* libdw opens what the skeleton names, and would wait for a pipe's other end. */
static bool is_file(const struct unit *unit, Dwarf_Die *skeleton)
{
    Dwarf_Attribute attr;
    const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attr));
    char path[PATH_MAX];
    struct stat status;

    if (!name)
        name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr));
    if (!name || (name[0] != '/' && !unit->comp_dir))
        return false;
    snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : unit->comp_dir,
             name[0] == '/' ? "" : "/", name);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool find_split(struct unit_dies *dies, const struct unit *unit)
{
    Dwarf_Die skeleton, die;
    struct dwarf_sections sections;
    uint64_t place = 0, wanted;

    if (!dwarf_offdie(dies->dwarf, unit->header.die, &skeleton) || !is_file(unit, &skeleton) ||
        dwarf_cu_info(skeleton.cu, NULL, NULL, NULL, &die, NULL, NULL, NULL) != 0 || !die.addr)
        return false;
    dies->dwarf = dwarf_cu_getdwarf(die.cu);
    dwarf_sections_read(&sections, dies->dwarf, true);
    dies->info = sections.info;
    dies->abbrev = sections.abbrev;
    wanted = dwarf_dieoffset(&die);
    while (unit_header_read(dies->info, &place, &dies->header))
        if (dies->header.die == wanted)
            return true;
    return false;
}

bool unit_dies_find(struct unit_dies *out, const struct dwarf_file *file, const struct unit *unit)
{
    struct unit_dies dies = { .header = unit->header,
                              .info = file->sections.info,
                              .abbrev = file->sections.abbrev,
                              .dwarf = file->dwarf,
                              .code_start = file->code_start,
                              .code_end = file->code_end,
                              .types_without_code = unit->types_without_code };

    if (unit->split && !find_split(&dies, unit))
        return false;
    *out = dies;
    return true;
}
