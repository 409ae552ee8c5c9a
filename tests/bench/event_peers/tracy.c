/* tracy.c - a begin/end pair by Tracy's client, for event_bench. Nobody is connected: it keeps all. */
#include <stdbool.h>
#include <stdint.h>

#define TRACY_ENABLE
#include <tracy/TracyC.h>

/* The client starts with its library. */
bool peer_start(void);
void peer_pairs(uint32_t rounds);

bool peer_start(void)
{
    return true;
}

void peer_pairs(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        TracyCZoneN(zone, "pair", 1);
        __asm__ volatile("" : "+r"(state));
        TracyCZoneEnd(zone);
        __asm__ volatile("" : "+r"(state));
    }
}
