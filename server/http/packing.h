/*
 * packing.h - permessage-deflate (RFC 7692): what is agreed on, packing and unpacking.
 *
 * Ownership  packing_pack and packing_unpack lend what they return until their next call.
 * Errors     -ISOSCOPE_NO_MEMORY; -ISOSCOPE_SYSTEM: what came is not packed right.
 */
#ifndef ISOSCOPE_PACKING_H
#define ISOSCOPE_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packing;

struct packing_terms {
    int window_bits;     /* of what we pack: 9 to 15 */
    bool forgets_ours;   /* server_no_context_takeover */
    bool forgets_theirs; /* client_no_context_takeover */
};

/* offer: the value of one Sec-WebSocket-Extensions field. False: nothing in it can be agreed to.
 * Else out and answer, which is for the same field of ours. */
bool packing_agree(const char *offer, struct packing_terms *out, char *answer, size_t answer_size);

int packing_new(struct packing **out, const struct packing_terms *terms);
void packing_free(struct packing *packing); /* NULL is fine */

/* The next piece of a message of ours; it may come out empty. */
int packing_pack(struct packing *packing, const void *bytes, size_t size, bool ends,
                 const uint8_t **out, size_t *out_size);

/* A piece of a client's message: then call packing_unpack until *out_size is 0. */
void packing_give(struct packing *packing, const void *bytes, size_t size, bool ends);
int packing_unpack(struct packing *packing, const uint8_t **out, size_t *out_size);

#endif
