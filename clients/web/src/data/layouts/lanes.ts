// Threads as lanes: those of one process together, and those whose names differ only in the number
// at their end as one group, which opens into them.
import type { ThreadInfo } from "../profile";

export interface Lane {
  kind: "process" | "group" | "thread" | "tag";
  key: string; // no other lane's: "4242", "4242/worker-*", "4242/4243", "#parse"
  pid: number; // of a tag: -1
  name: string; // of a group what the names of its threads have in common; of a process ""
  threads: number[]; // of the profile; of a tag: none
  tids: number[];
  depth: number; // how far it stands in
  isOpen: boolean; // a group whose threads stand below it
  samples: number;
}

export const LANE_ORDERS = ["start", "activity", "name", "tag"] as const;
export type LaneOrder = (typeof LANE_ORDERS)[number];

/** Which lanes, and how they stand. */
export interface LaneChoice {
  open: readonly string[]; // keys of groups
  /** start: by pids and tids, mostly as they began; activity: most samples first; tag: no threads, but what they did. */
  order: LaneOrder;
  find: string; // only threads whose name or tid has this, each in a lane of its own; "": all
}

export const LANES_START: LaneChoice = { open: [], order: "start", find: "" };

/** What names that differ only in the number at their end have in common. */
export function patternOf(name: string): string {
  // From the first digit on: or each of many would be tried.
  return name.replace(/(?<!\d)\d+$/, "*");
}

/**
 * Processes have lanes where there are several, groups where there are several threads.
 *
 * samples: by thread; those without any are left out
 */
export function lanesOf(
  threads: readonly ThreadInfo[],
  samples: Float64Array,
  { open, order, find }: LaneChoice,
): Lane[] {
  const lanes: Lane[] = [];
  const add = (kind: Lane["kind"], id: string, name: string, of: number[], depth: number) => {
    const { pid } = threads[of[0]];
    const key = pid + id;
    const isOpen = kind === "group" && open.includes(key);
    const tids = of.map((thread) => threads[thread].tid);
    const count = of.reduce((sum, thread) => sum + samples[thread], 0);
    lanes.push({ kind, key, pid, name, threads: of, tids, depth, isOpen, samples: count });
    return isOpen;
  };
  const processes = members(threads, samples, find.toLowerCase());
  const top = processes.size > 1 ? 1 : 0;
  const by = comparing(order, threads, samples);
  const sorted = <T>(all: T[], of: (one: T) => number[]) =>
    by ? all.sort((a, b) => by(of(a), of(b))) : all;
  const flat = sorted([...processes.values()], (groups) => [...groups.values()].flat());
  for (const groups of flat) {
    if (top) add("process", "", "", [...groups.values()].flat(), 0);
    for (const [pattern, group] of sorted([...groups], ([, of]) => of)) {
      const isGroup = group.length > 1;
      const first = threads[group[0]].name;
      const alike = group.every((one) => threads[one].name === first);
      if (isGroup && !add("group", `/${pattern}`, alike ? first : pattern, group, top)) continue;
      for (const one of sorted([...group], (thread) => [thread]))
        add("thread", `/${threads[one].tid}`, threads[one].name, [one], top + Number(isGroup));
    }
  }
  return lanes;
}

/**
 * What threads were doing by their own word, such as asyncio's tasks: the busiest first, whatever thread it was.
 *
 * samples: by tag; find: as of threads
 */
export function tagLanes(tags: readonly string[], samples: Float64Array, find: string): Lane[] {
  const wanted = find.toLowerCase();
  return Array.from(tags.keys())
    .filter((tag) => samples[tag] && tags[tag].toLowerCase().includes(wanted))
    .sort((a, b) => samples[b] - samples[a])
    .map((tag) => ({
      ...{ kind: "tag", key: `#${tags[tag]}`, pid: -1, name: tags[tag], threads: [], tids: [] },
      ...{ depth: 0, isOpen: false, samples: samples[tag] },
    }));
}

/** So many with most samples, where they stood. No thread has more than its group or process. */
export function busiest(lanes: Lane[], most: number): Lane[] {
  const kept = new Set([...lanes].sort((a, b) => b.samples - a.samples).slice(0, most));
  return lanes.filter((lane) => kept.has(lane));
}

/** Of two lists of threads, which stands first; null: they stay as they are. */
function comparing(order: LaneOrder, threads: readonly ThreadInfo[], samples: Float64Array) {
  const sum = (of: number[]) => of.reduce((so, one) => so + samples[one], 0);
  const name = (of: number[]) => threads[of[0]].name;
  if (order === "activity") return (a: number[], b: number[]) => sum(b) - sum(a);
  const { compare } = new Intl.Collator("en", { numeric: true }); // worker-9 before worker-10
  return order === "name" ? (a: number[], b: number[]) => compare(name(a), name(b)) : null;
}

/** Threads that have samples, by pid and pattern; find: those that have it, each for itself. */
function members(threads: readonly ThreadInfo[], samples: Float64Array, find: string) {
  const processes = new Map<number, Map<string, number[]>>();
  const busy = [...threads.keys()].filter((thread) => samples[thread]);
  busy.sort((a, b) => threads[a].pid - threads[b].pid || threads[a].tid - threads[b].tid);
  for (const thread of busy) {
    const { pid, tid, name } = threads[thread];
    if (!`${name} ${tid}`.toLowerCase().includes(find)) continue;
    const pattern = find ? String(tid) : patternOf(name);
    const groups = processes.get(pid) ?? new Map<string, number[]>();
    const group = groups.get(pattern) ?? [];
    processes.set(pid, groups.set(pattern, group));
    group.push(thread);
  }
  return processes;
}
