/* perfetto.c - a begin/end pair by Perfetto's C SDK in a session of its own process, for event_bench. */
#include "perfetto_c.h"

#include <stdbool.h>
#include <stdint.h>

#define CATEGORIES(C) C(bench, "bench", "pairs")
PERFETTO_TE_CATEGORIES_DEFINE(CATEGORIES)

bool peer_start(void);
void peer_pairs(uint32_t rounds);

bool peer_start(void)
{
    /* A TraceConfig: buffers { size_kb: 65536 } data_sources { config { name: "track_event"
     * track_event_config { enabled_categories: "*" } } }. */
    static uint8_t config[] = { 0x0a, 4,   0x08, 0x80, 0x80, 0x04, 0x12, 21,  0x0a, 19,
                                0x0a, 11,  't',  'r',  'a',  'c',  'k',  '_', 'e',  'v',
                                'e',  'n', 't',  0x8a, 0x07, 3,    0x12, 1,   '*' };
    struct PerfettoProducerInitArgs args = PERFETTO_PRODUCER_INIT_ARGS_INIT();
    struct PerfettoTracingSessionImpl *session;

    args.backends = PERFETTO_BACKEND_IN_PROCESS;
    PerfettoProducerInit(args);
    PerfettoTeInit();
    PERFETTO_TE_REGISTER_CATEGORIES(CATEGORIES);
    session = PerfettoTracingSessionInProcessCreate();
    PerfettoTracingSessionSetup(session, config, sizeof config);
    PerfettoTracingSessionStartBlocking(session);
    return PERFETTO_TE_IS_CATEGORY_ENABLED(bench);
}

void peer_pairs(uint32_t rounds)
{
    uint64_t state = 1;

    for (uint32_t i = 0; i < rounds; i++) {
        PERFETTO_TE(bench, PERFETTO_TE_SLICE_BEGIN("pair"));
        __asm__ volatile("" : "+r"(state));
        PERFETTO_TE(bench, PERFETTO_TE_SLICE_END());
        __asm__ volatile("" : "+r"(state));
    }
}
