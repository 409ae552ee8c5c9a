#include "line_tables.h"

#include "../../capture/runtimes/jvm/jvm_packed.h"

/* Pairs stand in the order of the class file, which need not ascend. */
int64_t line_in_jvm(struct line_table table, uint32_t excludes, uint32_t position)
{
    struct jvm_packed packed = { table.at, table.end, excludes };
    int64_t bci = 0, line = 0, best_bci = -1, best = 0;

    while (jvm_lines_next(&packed, &bci, &line)) {
        if (bci == position)
            return line;
        if (bci < position && bci >= best_bci) {
            best_bci = bci;
            best = line;
        }
    }
    return best;
}
