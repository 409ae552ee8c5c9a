#include "nearest.h"

#include <string.h>

enum { LENGTH_MAX = 40 }; /* no word of ours is longer */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of the optimal alignment: swapped neighbours are one mistake. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[LENGTH_MAX + 1][LENGTH_MAX + 1];

    for (size_t i = 0; i <= a_length; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++)
        for (size_t j = 1; j <= b_length; j++) {
            size_t changed = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

            rows[i][j] = least(changed, least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    return rows[a_length][b_length];
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word), candidate_length = strlen(candidate), found;

    if (length > LENGTH_MAX || candidate_length > LENGTH_MAX)
        return;
    found = distance(nearest->word, length, candidate, candidate_length);
    /* One mistake in three letters: beyond that any short word is near any other. */
    if (found > (length + 1) / 3 || (nearest->found && found >= nearest->distance))
        return;
    nearest->found = candidate;
    nearest->distance = found;
}
