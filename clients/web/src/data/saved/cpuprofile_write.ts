// V8's .cpuprofile, which has one thread: the busiest of those that are chosen.
//
// Readers give a sample the time until the next one, so each is written where its CPU time began; what
// passes until the next is (idle), and a last one of (root) ends the row. Times are on a grid of 1/8 ms where the
// period is 500 us or more: Chrome counts in ms, in which others are no exact numbers.
//
// Lost: other threads, tags, cut stacks, which frames were inlined; lines but those of leaves.
import { busiest, byThread, type Chosen, libraryPath, widthsOf } from "../files/chosen";

const [ROOT, IDLE] = [1, 2]; // ids of nodes; a call node's is its number + 2
const GRID_US = 125;

interface Node {
  id: number;
  callFrame: object;
  hitCount: number;
  children: number[];
  positionTicks?: { line: number; ticks: number }[];
}

export function writeCpuprofile(chosen: Chosen): string {
  const { profile } = chosen;
  const threads = byThread(chosen);
  const widthOf = widthsOf(profile);
  const { places } = threads[busiest(threads, widthOf)];
  const { samples, callOf, period_us } = profile;
  const grid = period_us >= 4 * GRID_US ? GRID_US : 1;
  const rounded = (us: number) => Math.round(us / grid) * grid;
  const row: number[] = [];
  const deltas: number[] = [];
  const startOf = (i: number) => samples.time_us.data[i] - widthOf(i);
  const startTime = Math.max(grid, rounded(startOf(places[0]))); // 0 is an empty profile to readers
  let [end, last] = [startTime, startTime];
  const put = (id: number, us: number) => {
    row.push(id);
    deltas.push(rounded(us) - last);
    last = rounded(us);
  };
  for (const i of places) {
    const gap = startOf(i) - end;
    if (gap > period_us / 2) {
      put(IDLE, end);
      end += gap;
    }
    put(callOf[samples.stack.data[i]] + 2, end);
    end += widthOf(i);
  }
  put(ROOT, end);
  const nodes = nodesOf(chosen, places);
  return JSON.stringify({ nodes, startTime, endTime: rounded(end), samples: row, timeDeltas: deltas });
}

function nodesOf({ profile }: Chosen, places: number[]): Node[] {
  const { callOf, stackPlaces, samples } = profile;
  const { parents, functions } = profile.calls;
  const nodes = new Map<number, Node>();
  const root = node(ROOT, "(root)");
  root.children.push(IDLE);
  const nodeOf = (call: number): Node => {
    if (call <= 0) return root;
    let known = nodes.get(call);
    if (known) return known;
    const { name, file, line } = profile.functions[functions[call]];
    const path = file || libraryPath(profile, functions[call]);
    const url = path.startsWith("/") ? `file://${encodeURI(path)}` : path;
    nodes.set(call, (known = node(call + 2, name, url, Math.max(line, 1) - 1)));
    nodeOf(parents[call]).children.push(known.id);
    return known;
  };
  const lines = new Map<Node, Map<number, number>>();
  for (const i of places) {
    const stack = samples.stack.data[i];
    const own = nodeOf(callOf[stack]);
    own.hitCount++;
    const { line } = profile.linePlace(stackPlaces[stack]);
    if (!line) continue;
    const ticks = lines.get(own) ?? new Map<number, number>();
    lines.set(own, ticks.set(line, (ticks.get(line) ?? 0) + 1));
  }
  for (const [own, ticks] of lines)
    own.positionTicks = [...ticks].sort((a, b) => a[0] - b[0]).map(([line, ticks]) => ({ line, ticks }));
  return [root, node(IDLE, "(idle)"), ...nodes.values()];
}

function node(id: number, functionName: string, url = "", lineNumber = 0): Node {
  const callFrame = { functionName, scriptId: "0", url, lineNumber, columnNumber: 0 };
  return { id, callFrame, hitCount: 0, children: [] };
}
