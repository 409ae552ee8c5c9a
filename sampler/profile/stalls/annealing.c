#include "annealing.h"

void annealing_begin(struct annealing *annealing, int64_t now_ns)
{
    *annealing = (struct annealing){ 1, 2, now_ns };
}

static void back_off(struct annealing *annealing)
{
    uint32_t sum = annealing->periods + annealing->next_periods;

    annealing->periods = annealing->next_periods;
    annealing->next_periods = sum < ANNEALING_PERIODS_MAX ? sum : ANNEALING_PERIODS_MAX;
}

bool annealing_again(struct annealing *annealing, int64_t now_ns, int64_t period_ns, bool same)
{
    if (!same) {
        annealing_begin(annealing, now_ns);
        return true;
    }
    if (now_ns - annealing->told_ns < annealing->periods * period_ns)
        return false;
    annealing->told_ns = now_ns;
    back_off(annealing);
    return true;
}

bool annealing_tells(uint32_t equals)
{
    uint64_t number = 1, next = 2;

    while (number < equals) {
        uint64_t sum = number + next;

        number = next;
        next = sum;
    }
    return number == equals;
}
