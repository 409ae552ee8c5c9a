#include "packing.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum {
    OFFER_BYTES = 512,
    WINDOW_BITS_MIN = 9, /* zlib cannot pack with 8 */
    WINDOW_BITS_MAX = 15,
    LEVEL = 1, /* on one machine, time is dearer than bytes */
    MEMORY_LEVEL = 8,
    UNPACKED_BYTES = 32 * 1024,
    PACKED_BYTES = 8 * 1024,
};

/* What a flush ends with; it is left out on the wire. */
static const uint8_t tail[] = { 0x00, 0x00, 0xff, 0xff };

struct packing {
    z_stream packer, unpacker;
    bool packs, unpacks; /* they have been begun */
    struct packing_terms terms;
    uint8_t *packed; /* grows */
    size_t packed_capacity;
    bool ends, tail_given; /* of the message that is unpacked */
    uint8_t unpacked[UNPACKED_BYTES];
};

/* Of an offer's parameters, as far as they were read. */
struct offer {
    struct packing_terms terms;
    bool window_given, client_window_given;
};

static char *trim_blanks(char *text)
{
    char *end;

    text += strspn(text, " \t");
    end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return text;
}

/* 8 to 15, perhaps in quotes; -1: neither. */
static int window_bits(char *text)
{
    size_t length = strlen(text);

    if (length > 2 && text[0] == '"' && text[length - 1] == '"') {
        text[length - 1] = '\0';
        text++;
    }
    if (!strcmp(text, "8") || !strcmp(text, "9"))
        return text[0] - '0';
    if (text[0] == '1' && text[1] >= '0' && text[1] <= '5' && !text[2])
        return 10 + text[1] - '0';
    return -1;
}

static bool take_once(bool *flag)
{
    bool first = !*flag;

    *flag = true;
    return first;
}

static bool take_parameter(struct offer *offer, const char *name, char *value)
{
    if (!strcasecmp(name, "server_no_context_takeover"))
        return !value && take_once(&offer->terms.forgets_ours);
    if (!strcasecmp(name, "client_no_context_takeover"))
        return !value && take_once(&offer->terms.forgets_theirs);
    if (!strcasecmp(name, "client_max_window_bits")) /* we unpack with any */
        return take_once(&offer->client_window_given) && (!value || window_bits(value) > 0);
    if (strcasecmp(name, "server_max_window_bits") != 0 || !value ||
        !take_once(&offer->window_given))
        return false;
    offer->terms.window_bits = window_bits(value);
    return offer->terms.window_bits >= WINDOW_BITS_MIN;
}

static bool take_offer(struct offer *offer, char *text)
{
    char *parameter;

    *offer = (struct offer){ .terms.window_bits = WINDOW_BITS_MAX };
    if (strcasecmp(trim_blanks(strsep(&text, ";")), "permessage-deflate") != 0)
        return false;
    while ((parameter = strsep(&text, ";"))) {
        char *value = parameter, *name = strsep(&value, "=");

        if (!take_parameter(offer, trim_blanks(name), value ? trim_blanks(value) : NULL))
            return false;
    }
    return true;
}

bool packing_agree(const char *text, struct packing_terms *out, char *answer, size_t answer_size)
{
    char copy[OFFER_BYTES], *rest = copy, *one, bits[40] = "";
    struct offer offer;

    if (strlen(text) >= sizeof(copy))
        return false;
    strcpy(copy, text);
    while ((one = strsep(&rest, ","))) {
        if (!take_offer(&offer, one))
            continue;
        if (offer.window_given)
            snprintf(bits, sizeof(bits), "; server_max_window_bits=%d", offer.terms.window_bits);
        snprintf(answer, answer_size, "permessage-deflate%s%s%s",
                 offer.terms.forgets_ours ? "; server_no_context_takeover" : "",
                 offer.terms.forgets_theirs ? "; client_no_context_takeover" : "", bits);
        *out = offer.terms;
        return true;
    }
    return false;
}

int packing_new(struct packing **out, const struct packing_terms *terms)
{
    struct packing *packing = calloc(1, sizeof(*packing));

    if (!packing)
        return -ISOSCOPE_NO_MEMORY;
    packing->terms = *terms;
    packing->packs = deflateInit2(&packing->packer, LEVEL, Z_DEFLATED, -terms->window_bits,
                                  MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    packing->unpacks = inflateInit2(&packing->unpacker, -WINDOW_BITS_MAX) == Z_OK;
    if (!packing->packs || !packing->unpacks) {
        packing_free(packing);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = packing;
    return 0;
}

void packing_free(struct packing *packing)
{
    if (!packing)
        return;
    if (packing->packs)
        deflateEnd(&packing->packer);
    if (packing->unpacks)
        inflateEnd(&packing->unpacker);
    free(packing->packed);
    free(packing);
}

static bool make_room(struct packing *packing, size_t used)
{
    size_t capacity = packing->packed_capacity;

    if (capacity - used >= PACKED_BYTES)
        return true;
    capacity = capacity ? 2 * capacity : 2 * PACKED_BYTES;

    uint8_t *packed = realloc(packing->packed, capacity);
    if (!packed)
        return false;
    packing->packed = packed;
    packing->packed_capacity = capacity;
    return true;
}

int packing_pack(struct packing *packing, const void *bytes, size_t size, bool ends,
                 const uint8_t **out, size_t *out_size)
{
    z_stream *packer = &packing->packer;
    size_t used = 0;

    packer->next_in = (void *)bytes;
    packer->avail_in = (unsigned)size;
    do {
        if (!make_room(packing, used))
            return -ISOSCOPE_NO_MEMORY;
        packer->next_out = packing->packed + used;
        packer->avail_out = (unsigned)(packing->packed_capacity - used);
        deflate(packer, ends ? Z_SYNC_FLUSH : Z_NO_FLUSH);
        used = packing->packed_capacity - packer->avail_out;
    } while (!packer->avail_out);
    if (ends) {
        used -= used < sizeof(tail) ? used : sizeof(tail);
        if (packing->terms.forgets_ours)
            deflateReset(packer);
    }
    *out = packing->packed;
    *out_size = used;
    return 0;
}

void packing_give(struct packing *packing, const void *bytes, size_t size, bool ends)
{
    packing->unpacker.next_in = (void *)bytes;
    packing->unpacker.avail_in = (unsigned)size;
    packing->ends = ends;
    packing->tail_given = false;
}

static void give_tail(struct packing *packing)
{
    packing->tail_given = true;
    packing->unpacker.next_in = (void *)tail;
    packing->unpacker.avail_in = sizeof(tail);
}

int packing_unpack(struct packing *packing, const uint8_t **out, size_t *out_size)
{
    z_stream *unpacker = &packing->unpacker;
    int status;

    unpacker->next_out = packing->unpacked;
    unpacker->avail_out = UNPACKED_BYTES;
    for (;;) {
        status = inflate(unpacker, Z_SYNC_FLUSH);
        if (status == Z_STREAM_END) /* it says that it has ended; another one may follow */
            inflateReset(unpacker);
        else if (status != Z_OK && status != Z_BUF_ERROR)
            return status == Z_MEM_ERROR ? -ISOSCOPE_NO_MEMORY : -ISOSCOPE_SYSTEM;
        if (!unpacker->avail_out || (!unpacker->avail_in && status != Z_STREAM_END)) {
            if (!unpacker->avail_out || !packing->ends || packing->tail_given)
                break;
            give_tail(packing);
        }
    }
    *out = packing->unpacked;
    *out_size = UNPACKED_BYTES - unpacker->avail_out;
    if (!*out_size && packing->ends && packing->terms.forgets_theirs)
        inflateReset(unpacker);
    return 0;
}
