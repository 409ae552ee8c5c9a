// speedscope's JSON: one sampled profile a thread, in microseconds of CPU time.
//
// Lost: idle time, tags, states, cut stacks, lines but those of definitions, which frames were inlined, the
// library where the source file is known.
import { type Chosen, framesOf, libraryPath } from "./chosen";

const SCHEMA = "https://www.speedscope.app/file-format-schema.json"; // a name: nothing is loaded

export function writeSpeedscope(chosen: Chosen, name: string): string {
  const { profile, places } = chosen;
  const { callOf } = profile;
  const { stack, thread, cpu_ns } = profile.samples;
  const numbers = new Map<number, number>();
  const stacks = new Map<number, number[]>();
  const numberOf = (fn: number) => {
    let number = numbers.get(fn);
    if (number === undefined) numbers.set(fn, (number = numbers.size));
    return number;
  };
  const stackOf = (node: number) => {
    let frames = stacks.get(node);
    if (!frames) stacks.set(node, (frames = framesOf(profile, node).map(numberOf)));
    return frames;
  };
  const threads = new Map<number, { samples: number[][]; weights: number[] }>();
  for (const i of places) {
    let one = threads.get(thread.data[i]);
    if (!one) threads.set(thread.data[i], (one = { samples: [], weights: [] }));
    one.samples.push(stackOf(callOf[stack.data[i]]));
    one.weights.push(cpu_ns.data[i] / 1000);
  }
  const profiles = [...threads].map(([number, { samples, weights }]) => {
    const { pid, tid, name } = profile.threads[number];
    return {
      type: "sampled",
      name: `${name || "thread"} (pid ${pid}, tid ${tid})`,
      unit: "microseconds",
      startValue: 0,
      endValue: weights.reduce((sum, one) => sum + one, 0),
      samples,
      weights,
    };
  });
  const frames = [...numbers.keys()].map((fn) => {
    const { name, file, line } = profile.functions[fn];
    if (file) return line ? { name, file, line } : { name, file };
    const path = libraryPath(profile, fn);
    return path ? { name, file: path } : { name };
  });
  const shared = { frames };
  return JSON.stringify({
    $schema: SCHEMA,
    exporter: "isoscope",
    name,
    activeProfileIndex: 0,
    profiles,
    shared,
  });
}
