// The stacks of one thread in the order of time: neighbours with the same callers are one box.
//
// A sample lasts until the thread's next one, at most GAP periods: behind that the thread did not run.
import { ROOT } from "./call_tree";
import { type Filter, passing } from "./filter";
import type { FlameRows } from "./flame_layout";
import type { Profile } from "./profile";
import type { Shape } from "./shape";

const GAP = 2;

interface Box {
  from_us: number;
  to_us: number;
  node: number;
}

/** Where each of the samples starts and ends, in time order; ends are never behind the next start. */
function inTime(profile: Profile, filter: Filter): { sample: number; to_us: number }[] {
  const time = profile.samples.time_us.data;
  const numbers: number[] = [];
  passing(profile, filter, (i) => numbers.push(i));
  numbers.sort((a, b) => time[a] - time[b] || a - b);
  return numbers.map((sample, i) => {
    const longest = time[sample] + GAP * profile.period_us;
    const next = i + 1 < numbers.length ? time[numbers[i + 1]] : time[sample] + profile.period_us;
    return { sample, to_us: Math.min(next, longest) };
  });
}

function pathOf(parents: Int32Array, node: number): number[] {
  const path: number[] = [];
  for (; node > ROOT; node = parents[node]) path.push(node);
  return path.reverse();
}

/** x is microseconds since origin_us. The filter should leave one thread. */
export function chartLayout(
  profile: Profile,
  shape: Shape,
  filter: Filter,
  origin_us: number,
  extent_us: number,
): FlameRows {
  const rows: Box[][] = [];
  const { parents, functions } = shape.calls;
  const time = profile.samples.time_us.data;
  for (const { sample, to_us } of inTime(profile, filter)) {
    const node = shape.nodeOf[profile.callOf[profile.samples.stack.data[sample]]];
    if (node < 0) continue;
    const from_us = time[sample] - origin_us;
    pathOf(parents, node).forEach((one, depth) => {
      const row = (rows[depth] ??= []);
      const last = row[row.length - 1];
      if (last && last.node === one && last.to_us === from_us) last.to_us = to_us - origin_us;
      else row.push({ from_us, to_us: to_us - origin_us, node: one });
    });
  }
  const ends = [0];
  for (const row of rows) ends.push(ends[ends.length - 1] + row.length);
  const flat = rows.flat();
  return {
    whole: extent_us,
    rows: Int32Array.from(ends),
    x: Float64Array.from(flat, (box) => box.from_us),
    width: Float64Array.from(flat, (box) => box.to_us - box.from_us),
    node: Int32Array.from(flat, (box) => box.node),
    fn: Int32Array.from(flat, (box) => functions[box.node]),
  };
}
