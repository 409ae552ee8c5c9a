#include "../stall_marks.h"

#include <stdlib.h>
#include <string.h>

enum { MORE = 64 };

uint8_t *stall_marks_of(struct stall_marks *marks, uint64_t number)
{
    if (number >= marks->count) {
        size_t count = number + number / 2 + MORE;
        uint8_t *more = realloc(marks->bytes, count);

        if (!more)
            return NULL;
        memset(more + marks->count, 0, count - marks->count);
        marks->bytes = more;
        marks->count = count;
    }
    return &marks->bytes[number];
}

void stall_marks_free(struct stall_marks *marks)
{
    free(marks->bytes);
    *marks = (struct stall_marks){ 0 };
}
