// The stacks of threads in the order of time: neighbours with the same callers are one box. Several threads
// are bands, one below the other: each begins with a row of one box, which is the thread's.
//
// A sample lasts until the thread's next one, at most GAP periods: behind that the thread did not run.
// What is thinner than can be seen is joined with its thin neighbours, so that an hour has no more boxes
// than a screen has pixels: a joined box is nobody's (node and fn -1).
import { ROOT } from "../call_tree";
import { FloatColumn, IntColumn } from "../columns";
import { type Filter, passing } from "../filter";
import { groupFunction } from "../group";
import { type FlameRows, JOINED, type Slices } from "./flame_layout";
import type { Profile } from "../profile";
import type { Shape } from "../shape";

const GAP = 2;

/** Numbers of samples in the order of time, by band. bandOf: of a sample; -1: none. */
function inTime(
  profile: Profile,
  filter: Filter,
  bands: number,
  bandOf: (sample: number) => number,
): Int32Array[] {
  const time = profile.samples.time_us.data;
  const numbers = Array.from({ length: bands }, () => new IntColumn());
  const last = new Float64Array(bands).fill(-Infinity);
  const sorted = last.map(() => 1);
  passing(profile, filter, (i) => {
    const band = bandOf(i);
    if (band < 0) return;
    if (time[i] < last[band]) sorted[band] = 0;
    last[band] = time[i];
    numbers[band].push(i);
  });
  return numbers.map((one, band) => {
    const view = one.view();
    return sorted[band] ? view : view.sort((a, b) => time[a] - time[b] || a - b);
  });
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
  const [numbers] = inTime(profile, filter, 1, () => 0);
  return laidOut(profile, shape, numbers, origin_us, extent_us, thin_us);
}

/**
 * The same of several threads, as bands; of one it is that of chartLayout.
 *
 * threads: numbers of the profile's; closed: of these, those that are only a name
 * above: rows that stand between a thread's name and its stacks; null: none
 */
export function chartBands(
  profile: Profile,
  shape: Shape,
  filter: Filter,
  threads: readonly number[],
  closed: readonly number[],
  origin_us: number,
  extent_us: number,
  thin_us = 0,
  above: (thread: number) => FlameRows | null = () => null,
): FlameRows {
  const isClosed = (thread: number) => threads.length > 1 && closed.includes(thread);
  const band = new Map(threads.map((thread, i) => [thread, isClosed(thread) ? -1 : i]));
  const { thread } = profile.samples;
  const all = inTime(profile, filter, threads.length, (i) => band.get(thread.data[i]) ?? -1).map(
    (numbers, i) => {
      const calls = laidOut(profile, shape, numbers, origin_us, extent_us, thin_us);
      const rows = isClosed(threads[i]) ? null : above(threads[i]);
      return rows ? below([rows, calls], extent_us) : calls;
    },
  );
  return all.length === 1 ? all[0] : stacked(all, threads, extent_us);
}

const NUMBERS = ["x", "width", "node", "fn"] as const;
const OF_SLICES = ["label", "start_us", "duration", "count"] as const;

/** Below each other; the rows of some are slices. */
function below(all: FlameRows[], whole: number): FlameRows {
  const count = all.reduce((sum, { node }) => sum + node.length, 0);
  const boxes = empty(whole, count);
  const rows = [0];
  const slices = all.some((one) => one.slices) ? noSlices(count) : undefined;
  let at = 0;
  for (const one of all) {
    for (const part of NUMBERS) boxes[part].set(one[part], at);
    if (slices && one.slices) for (const part of OF_SLICES) slices[part].set(one.slices[part], at);
    for (let row = 1; row < one.rows.length; row++) {
      rows.push(at + one.rows[row]);
      slices?.keys.push(one.slices?.keys[row - 1] ?? "");
    }
    at += one.node.length;
  }
  return { ...boxes, rows: Int32Array.from(rows), slices };
}

function noSlices(count: number): Slices {
  const [start_us, duration] = [new Float64Array(count), new Float64Array(count)];
  return { label: new Int32Array(count).fill(-1), start_us, duration, count: new Int32Array(count), keys: [] };
}

function empty(whole: number, count: number): FlameRows {
  return {
    whole,
    rows: new Int32Array(0),
    x: new Float64Array(count),
    width: new Float64Array(count),
    self: new Float64Array(0),
    node: new Int32Array(count),
    fn: new Int32Array(count),
  };
}

/** Each behind a row of one box. */
function stacked(all: FlameRows[], threads: readonly number[], whole: number): FlameRows {
  const parts: FlameRows[] = [];
  const bands: number[] = [];
  let row = 0;
  all.forEach((one, i) => {
    const name = empty(whole, 1);
    name.width[0] = whole;
    name.node[0] = JOINED;
    name.fn[0] = groupFunction(threads[i]);
    parts.push({ ...name, rows: Int32Array.of(0, 1) }, one);
    bands.push(row);
    row += one.rows.length;
  });
  return { ...below(parts, whole), bands: Int32Array.from(bands) };
}

function laidOut(
  profile: Profile,
  shape: Shape,
  numbers: Int32Array,
  origin_us: number,
  extent_us: number,
  thin_us: number,
): FlameRows {
  const rows: Row[] = [];
  const { parents, functions } = shape.calls;
  const { callOf, period_us } = profile;
  const time = profile.samples.time_us.data;
  const stack = profile.samples.stack.data;
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
  const boxes = { ...empty(whole, count), rows: Int32Array.from(ends) };
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
