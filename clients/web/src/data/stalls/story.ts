// What one stall tells, as parts that can be drawn: its story on a scale of time, its evidence as shares, its stacks.
import type { Stall, StallStack } from "../../wire/protocol";

export interface StoryPart {
  function: string;
  from_us: number;
  to_us: number;
  looks: number;
  left: number; // of the whole, 0 to 1
  width: number;
  isCulprit: boolean; // the longest run of the culprit; of equals the last
}

/** What it is drawn on: the stall's window, and what was seen of it beyond. */
export function storySpan({ timeOriginMicros: from, timeExtentMicros: extent, story }: Stall): [number, number] {
  const ends = story.map(({ toMicros }) => toMicros);
  return [Math.min(from, ...story.map(({ fromMicros }) => fromMicros)), Math.max(from + Math.max(1, extent), ...ends)];
}

export function storyParts(stall: Stall): StoryPart[] {
  const [from, to] = storySpan(stall);
  const length = ({ fromMicros, toMicros }: Stall["story"][number]) => toMicros - fromMicros;
  const own = stall.story.filter((run) => run.function === stall.culprit?.function);
  const longest = own.reduce<Stall["story"][number] | null>((a, b) => (a && length(a) > length(b) ? a : b), null);
  return stall.story.map((run) => ({
    ...{ function: run.function, from_us: run.fromMicros, to_us: run.toMicros, looks: run.looks },
    left: (run.fromMicros - from) / (to - from),
    width: length(run) / (to - from),
    isCulprit: run === longest,
  }));
}

export interface StackGroup extends Omit<StallStack, "micros"> {
  from_us: number; // of the first look that met it
  to_us: number; // of the last one
  looks: number;
}

/** Equal ones that follow each other are one, in the order of time. */
export function stackGroups(stacks: readonly StallStack[]): StackGroup[] {
  const groups: StackGroup[] = [];
  for (const { micros, state, functions } of stacks) {
    const last = groups.at(-1);
    if (last && last.state === state && last.functions.join("\n") === functions.join("\n")) {
      last.to_us = micros;
      last.looks++;
    } else groups.push({ from_us: micros, to_us: micros, looks: 1, state, functions });
  }
  return groups;
}

export interface Evidence {
  state: "Running" | "Runnable" | "Sleep"; // as samples are in
  micros: number;
}

/** What the kernel told its thread was in; what it did not tell is left out. */
export function evidenceOf({ runningMicros, runnableMicros, sleepingMicros }: Stall): Evidence[] {
  const all: Evidence[] = [
    { state: "Running", micros: runningMicros },
    { state: "Runnable", micros: runnableMicros },
    { state: "Sleep", micros: sleepingMicros },
  ];
  return all.filter(({ micros }) => micros > 0);
}
