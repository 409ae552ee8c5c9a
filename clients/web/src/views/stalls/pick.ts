// A stall is picked: its time and its thread are selected, and its culprit where any sample has it. On narrow screens no
// function is: its panel would cover the stall.
import type { StallBrief } from "../../data/stalls/brief";
import { backend, functionOfKey, look, problem } from "../../state/live";
import { isNarrow } from "../../state/room";
import { select, selection, type View } from "../../state/selection";

/** view: that it is seen in. */
export function pickStall(one: StallBrief, view: View = "stalls"): void {
  const { processes: _, threads: __, window_us: ___, ...filter } = selection.value.filter;
  const [from, to] = one.window_us;
  const { overview } = selection.value;
  const isKnown = !isNarrow.value && functionOfKey(one.culpritKey) >= 0;
  const isSeen = !overview || (from < overview[1] && to > overview[0]);
  select({
    ...{ view, stall: one.number, filter: { ...filter, window_us: [from, to], threads: [one.tid] } },
    ...(view === "stalls" && { stallTable: "stalls" as const }),
    picked: isKnown ? one.culpritKey : "",
    ...(!isSeen && { overview: null }),
  });
}

export const IN_TIME = { by: "start", ascending: true } as const;

/** To the next or the previous one in time, from the picked one; the view stays. */
export async function stepStall(step: 1 | -1): Promise<void> {
  try {
    const all = (await backend().ask("stalls", { sort: IN_TIME, search: null, until_us: look.value.filter.until_us })) ?? [];
    const at = all.findIndex(({ number }) => number === selection.value.stall);
    const next = at < 0 ? all.at(step > 0 ? 0 : -1) : all[(at + step + all.length) % all.length];
    if (next) pickStall(next, selection.value.view);
  } catch (error) {
    problem.value = `stalls: ${(error as Error).message}`;
  }
}
