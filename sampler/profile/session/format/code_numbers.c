#include "code_numbers.h"

#include "../../naming/codes.h"

enum { NUMBER_MAX = (1 << 24) - 1 };

void code_numbers_free(struct code_numbers *codes)
{
    map64_free(&codes->numbers);
    *codes = (struct code_numbers){ 0 };
}

static uint64_t with_number(uint64_t offset, uint32_t number)
{
    return CODE_OFFSET(number, CODE_OFFSET_POSITION(offset));
}

uint64_t code_numbers_learn(struct code_numbers *codes, uint64_t offset)
{
    uint32_t number = CODE_OFFSET_NUMBER(offset), *place;
    bool added;

    if (codes->keep) {
        codes->last = number > codes->last ? number : codes->last;
        return offset;
    }
    place = map64_put(&codes->numbers, number, &added);
    if (place && added)
        *place = codes->last < NUMBER_MAX ? ++codes->last : 0;
    return with_number(offset, place ? *place : 0);
}

uint64_t code_numbers_find(const struct code_numbers *codes, uint64_t offset)
{
    if (codes->keep)
        return offset;
    return with_number(offset, map64_find(&codes->numbers, CODE_OFFSET_NUMBER(offset)));
}
