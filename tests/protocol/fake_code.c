/*
 * The scripted profile behind code.h: the first function calls the second, which is a loop; the
 * others have no code.
 */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/code.h"

#include <stdlib.h>

struct code_request {
    const struct profile *profile;
    struct code_listing listing;
};

static const struct code_instruction calls[] = {
    { 0x10, "\xe8\x0b", 5, "call", "0x20", 0x20, "spin(int&)", NULL, "/home/user/src/spin.c", 30 },
    { 0x15, "\x06", 1, ".byte", "0x06", CODE_NO_TARGET, NULL, NULL, NULL, 0 },
};

static const struct code_instruction loops[] = {
    { 0x20, "\xff\xc8", 2, "dec", "eax", CODE_NO_TARGET, NULL, "less", "/home/user/src/a b.h", 12 },
    { 0x22, "\x75\xfc", 2, "jne", "0x20", 0x20, NULL, NULL, "/home/user/src/a b.h", 14 },
    { 0x24, "\xc3", 1, "ret", "", CODE_NO_TARGET, NULL, NULL, "/home/user/src/a b.h", 15 },
};

/* From one of the three on; a listing has two at most. */
static struct code_listing loop_from(uint64_t from)
{
    uint32_t first = 0;

    while (first < 2 && loops[first].offset < from)
        first++;
    return first ? (struct code_listing){ .instructions = &loops[first], .count = 3 - first }
                 : (struct code_listing){ .instructions = loops, .count = 2, .next = 0x24 };
}

int profile_code_ask(struct code_request **out, struct profile *profile, const char *function_id,
                     uint64_t from)
{
    struct profile_function found;
    struct code_request *request;

    if (!profile_function(profile, function_id, &found))
        return -ISOSCOPE_NOT_FOUND;
    request = calloc(1, sizeof(*request));
    if (!request)
        return -ISOSCOPE_NO_MEMORY;
    request->profile = profile;
    if (found.function.offset == calls[0].offset)
        request->listing =
            (struct code_listing){ .instructions = calls, .count = 2, .load_bias = 0x1000 };
    else if (found.function.offset == loops[0].offset)
        request->listing = loop_from(from);
    else
        request->listing.reason = "the file was replaced by another build";
    *out = request;
    return 0;
}

const struct code_listing *profile_code_listing(const struct code_request *request)
{
    return request->profile->pending ? NULL : &request->listing;
}

void profile_code_free(struct code_request *request)
{
    free(request);
}
