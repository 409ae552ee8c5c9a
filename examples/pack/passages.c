#include "passages.h"

#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct range {
    const char *text, *end;
};

static size_t common_length(const struct range *all, const char *left, const char *right)
{
    size_t most = (size_t)(all->end - (left > right ? left : right)), length = 0;

    while (length < most && left[length] == right[length])
        length++;
    return length;
}

static inline bool comes_first(const struct range *all, const char *left, const char *right)
{
    size_t most = (size_t)(all->end - (left > right ? left : right));
    int order = memcmp(left, right, most);

    return order ? order < 0 : left > right; /* the shorter one first */
}

static void merge(const struct range *all, const char **places, size_t half, size_t count,
                  const char **room)
{
    size_t left = 0, right = half;

    for (size_t i = 0; i < count; i++)
        if (right == count || (left < half && comes_first(all, places[left], places[right])))
            room[i] = places[left++];
        else
            room[i] = places[right++];
    memcpy(places, room, count * sizeof(*places));
}

static void sort_places(const struct range *all, const char **places, size_t count,
                        const char **room)
{
    size_t half = count / 2;

    if (count < 2)
        return;
    sort_places(all, places, half, room);
    sort_places(all, places + half, count - half, room);
    merge(all, places, half, count, room);
}

static size_t find_places(const struct range *all, const char **places)
{
    size_t count = 0;

    for (const char *at = all->text; at < all->end; at++)
        if (is_word_letter(*at) && (at == all->text || !is_word_letter(at[-1])))
            places[count++] = at;
    return count;
}

size_t passages_longest(const char *text, size_t size, const char **first, const char **second)
{
    const struct range all = { text, text + size };
    const char **places = malloc((size + 1) * sizeof(*places)), **room;
    size_t count, best = 0;

    if (!places)
        abort();
    count = find_places(&all, places);
    room = malloc((count + 1) * sizeof(*room));
    if (!room)
        abort();
    sort_places(&all, places, count, room);
    for (size_t i = 1; i < count; i++) {
        size_t length = common_length(&all, places[i - 1], places[i]);

        if (length > best) {
            best = length;
            *first = places[i - 1];
            *second = places[i];
        }
    }
    free(room);
    free(places);
    return best;
}
