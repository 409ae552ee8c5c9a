#include "unwind_table.h"

const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t vaddr)
{
    const struct unwind_row *rows = unwind_table_rows(table);
    const uint32_t *buckets = unwind_table_buckets(table);
    uint64_t pc = vaddr - table->start;
    uint32_t low, high, bucket = (uint32_t)(pc >> ROW_BUCKET_BITS);

    if (vaddr < table->start || vaddr >= table->end)
        return NULL;
    low = buckets[bucket];
    high = buckets[bucket + 1];
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (rows[middle].pc <= pc)
            low = middle;
        else
            high = middle - 1;
    }
    return &rows[low];
}
