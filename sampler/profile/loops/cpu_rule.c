#include "cpu_rule.h"

enum { HIGH_PERMILLE = 800, LOW_PERMILLE = HIGH_PERMILLE / 2 };

static const int64_t step_ns = 1000000000; /* the clocks move in steps of a tick */
static const int64_t long_ns = 60000000000, mute_for_ns = 60000000000;

static uint32_t permille(uint64_t cpu_ns, int64_t for_ns)
{
    uint64_t use = for_ns > 0 ? cpu_ns / ((uint64_t)for_ns / 1000 + 1) : 0;

    return use < UINT32_MAX ? (uint32_t)use : UINT32_MAX;
}

static void begin(struct cpu_rule *rule, uint64_t cpu_ns, int64_t now_ns)
{
    rule->begun = true;
    rule->counts = false;
    rule->cpu_ns = cpu_ns;
    rule->at_ns = now_ns;
}

static void count_from_last_step(struct cpu_rule *rule)
{
    rule->counts = true;
    rule->from_cpu_ns = rule->cpu_ns;
    rule->from_ns = rule->at_ns;
}

static bool is_over(struct cpu_rule *rule, uint64_t cpu_ns, int64_t now_ns, struct cpu_use *out)
{
    uint32_t use = permille(cpu_ns - rule->from_cpu_ns, now_ns - rule->from_ns);

    if (use < LOW_PERMILLE)
        rule->counts = false;
    if (use <= HIGH_PERMILLE || now_ns - rule->from_ns < long_ns)
        return false;
    *out = (struct cpu_use){ rule->from_ns, now_ns, use };
    rule->counts = false;
    rule->mute_ns = now_ns + mute_for_ns;
    return true;
}

bool cpu_rule_feed(struct cpu_rule *rule, uint64_t cpu_ns, int64_t now_ns, struct cpu_use *out)
{
    bool over = false;

    if (!rule->begun || cpu_ns < rule->cpu_ns || now_ns < rule->at_ns)
        begin(rule, cpu_ns, now_ns);
    if (now_ns - rule->at_ns < step_ns)
        return false;
    if (!rule->counts && now_ns >= rule->mute_ns &&
        permille(cpu_ns - rule->cpu_ns, now_ns - rule->at_ns) > HIGH_PERMILLE)
        count_from_last_step(rule);
    if (rule->counts)
        over = is_over(rule, cpu_ns, now_ns, out);
    rule->cpu_ns = cpu_ns;
    rule->at_ns = now_ns;
    return over;
}
