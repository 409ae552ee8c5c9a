// The stacks of one thread in the order of time: neighbours with the same callers are one box.
//
// A sample lasts until the thread's next one, at most GAP periods: behind that the thread did not run.
// What is thinner than can be seen is joined with its thin neighbours, so that an hour has no more boxes
// than a screen has pixels: a joined box is nobody's (node and fn -1).
import { ROOT } from "./call_tree";
import { FloatColumn, IntColumn } from "./columns";
import { type Filter, passing } from "./filter";
import { type FlameRows, JOINED } from "./flame_layout";
import type { Profile } from "./profile";
import type { Shape } from "./shape";

const GAP = 2;

/** Numbers of samples in the order of time. */
function inTime(profile: Profile, filter: Filter): Int32Array {
  const time = profile.samples.time_us.data;
  const numbers = new IntColumn();
  let sorted = true;
  let last = -Infinity;
  passing(profile, filter, (i) => {
    sorted &&= time[i] >= last;
    last = time[i];
    numbers.push(i);
  });
  const view = numbers.view();
  return sorted ? view : view.sort((a, b) => time[a] - time[b] || a - b);
}

/** One depth: boxes that are closed, and the one that may go on. */
class Row {
  readonly from = new FloatColumn();
  readonly to = new FloatColumn();
  readonly node = new IntColumn();
  #open = JOINED;
  #openFrom = 0;
  #openTo = -Infinity;

  constructor(private readonly thin_us: number) {}

  add(node: number, from: number, to: number): void {
    // A gap that cannot be seen parts nothing: threads that share a processor have one in each sample.
    if (this.#open === node && from - this.#openTo <= this.thin_us) {
      this.#openTo = to;
      return;
    }
    this.close();
    this.#open = node;
    this.#openFrom = from;
    this.#openTo = to;
  }

  close(): void {
    if (this.#openTo === -Infinity) return;
    const last = this.node.length - 1;
    const isThin = this.#openTo - this.#openFrom < this.thin_us;
    const follows = last >= 0 && this.#openFrom - this.to.data[last] < this.thin_us;
    if (isThin && follows && this.#isThin(last)) {
      this.to.data[last] = this.#openTo;
      this.node.data[last] = JOINED;
    } else {
      this.from.push(this.#openFrom);
      this.to.push(this.#openTo);
      this.node.push(this.#open);
    }
    this.#openTo = -Infinity;
  }

  #isThin(box: number): boolean {
    return this.node.data[box] === JOINED || this.to.data[box] - this.from.data[box] < this.thin_us;
  }
}

/**
 * The filter should leave one thread, and has the window. x is microseconds since origin_us; thin_us is
 * what is too short to be seen: 0 joins nothing.
 */
export function chartLayout(
  profile: Profile,
  shape: Shape,
  filter: Filter,
  origin_us: number,
  extent_us: number,
  thin_us = 0,
): FlameRows {
  const rows: Row[] = [];
  const { parents, functions } = shape.calls;
  const { callOf, period_us } = profile;
  const time = profile.samples.time_us.data;
  const stack = profile.samples.stack.data;
  const numbers = inTime(profile, filter);
  const path: number[] = [];
  for (let i = 0; i < numbers.length; i++) {
    const from = time[numbers[i]];
    const next = i + 1 < numbers.length ? time[numbers[i + 1]] : from + period_us;
    const to = Math.min(next, from + GAP * period_us);
    path.length = 0;
    for (let node = shape.nodeOf[callOf[stack[numbers[i]]]]; node > ROOT; node = parents[node])
      path.push(node);
    for (let depth = 0; depth < path.length; depth++) {
      const row = (rows[depth] ??= new Row(thin_us));
      row.add(path[path.length - 1 - depth], from - origin_us, to - origin_us);
    }
  }
  return flat(rows, extent_us, functions);
}

function flat(rows: Row[], whole: number, functions: Int32Array): FlameRows {
  const ends = [0];
  for (const row of rows) {
    row.close();
    ends.push(ends[ends.length - 1] + row.node.length);
  }
  const count = ends[ends.length - 1];
  const boxes: FlameRows = {
    whole,
    rows: Int32Array.from(ends),
    x: new Float64Array(count),
    width: new Float64Array(count),
    self: new Float64Array(0),
    node: new Int32Array(count),
    fn: new Int32Array(count),
  };
  rows.forEach((row, depth) => {
    boxes.x.set(row.from.view(), ends[depth]);
    boxes.width.set(
      row.to.view().map((to, i) => to - row.from.data[i]),
      ends[depth],
    );
    boxes.node.set(row.node.view(), ends[depth]);
  });
  for (let box = 0; box < count; box++)
    boxes.fn[box] = boxes.node[box] < 0 ? JOINED : functions[boxes.node[box]];
  return boxes;
}
