#include "base64.h"

#include "base64_digits.h"

size_t base64_put(struct json_text *text, const char *bytes, size_t length, bool last)
{
    size_t whole = length / 3 * 3, end = last ? length : whole;
    char *at =
        json_text_reserve(text, (length / 3 + 1) * 4); /* some also where no three are whole */

    if (!at)
        return length;
    for (size_t i = 0; i < whole; i += 3, at += 4)
        base64_four(at, bytes + i, 3, BASE64_PLAIN);
    if (end > whole)
        base64_four(at, bytes + whole, end - whole, BASE64_PLAIN);
    text->length += (end + 2) / 3 * 4;
    return end;
}
