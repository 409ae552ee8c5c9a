// speedscope's JSON: one sampled profile a thread, in microseconds, on the time line of all.
//
// A sample stands at the end of the CPU time that it weighs; what passes between two is an empty
// stack, which speedscope leaves blank. In wall mode a sample lasts one period; what it was of CPU time, and its
// state, stand in `_cpuMicros` and `_states` then.
//
// Lost: tags, states of CPU mode, cut stacks, lines but those of definitions, which frames were inlined, the
// library where the source file is known.
import type { Profile } from "../profile";
import {
  busiest,
  byThread,
  type Chosen,
  framesOf,
  libraryPath,
  spanOf,
  type ThreadPlaces,
  widthsOf,
} from "../files/chosen";

const SCHEMA = "https://www.speedscope.app/file-format-schema.json"; // a name: nothing is loaded

type Numbers = (node: number) => number[];

export function writeSpeedscope(chosen: Chosen, name: string): string {
  const { profile, places } = chosen;
  const { time_us } = profile.samples;
  const numbers = new Map<number, number>(); // functions in the file, in its order
  const threads = byThread(chosen);
  const widthOf = widthsOf(profile);
  const zero_us = places.reduce(
    (least, i) => Math.min(least, time_us.data[i] - widthOf(i)),
    Infinity,
  );
  const { first_us, last_us } = spanOf(chosen);
  const stackOf = numbered(profile, numbers);
  const line = { zero_us, hasGaps: first_us < last_us, widthOf };
  const profiles = threads.map((thread) => threadOf(profile, thread, line, stackOf));
  const frames = [...numbers.keys()].map((fn) => frameOf(profile, fn));
  return JSON.stringify({
    $schema: SCHEMA,
    exporter: "isoscope",
    name,
    _isoscope: {
      period: profile.period_us,
      processes: Object.fromEntries(profile.processNames),
    },
    activeProfileIndex: busiest(threads, widthOf),
    profiles,
    shared: { frames },
  });
}

/** Stacks as the file has them; each function gets a number when it comes first. */
function numbered(profile: Profile, numbers: Map<number, number>): Numbers {
  const stacks = new Map<number, number[]>();
  const numberOf = (fn: number) => {
    let number = numbers.get(fn);
    if (number === undefined) numbers.set(fn, (number = numbers.size));
    return number;
  };
  return (node) => {
    let frames = stacks.get(node);
    if (!frames) stacks.set(node, (frames = framesOf(profile, node).map(numberOf)));
    return frames;
  };
}

/** The time line of all threads. */
interface Line {
  zero_us: number;
  hasGaps: boolean;
  widthOf(sample: number): number;
}

function threadOf(profile: Profile, { number, places }: ThreadPlaces, line: Line, stackOf: Numbers): object {
  const { stack, time_us, cpu_ns, state } = profile.samples;
  const samples: number[][] = [];
  const weights: number[] = [];
  const cpu: number[] = [];
  const states: string[] = [];
  let end = 0;
  const put = (stack: number[], width: number, sample = -1) => {
    cpu.push(sample < 0 ? 0 : cpu_ns.data[sample] / 1000);
    states.push(sample < 0 ? "" : profile.states.texts[state.data[sample]]);
    samples.push(stack);
    weights.push(width);
    end += width;
  };
  for (const i of places) {
    const width = line.widthOf(i);
    const gap = time_us.data[i] - width - line.zero_us - end;
    if (line.hasGaps && gap > profile.period_us / 2) put([], gap);
    put(stackOf(profile.callOf[stack.data[i]]), width, i);
  }
  const { pid, tid, name } = profile.threads[number];
  return {
    type: "sampled",
    name: `${name || "thread"} (pid ${pid}, tid ${tid})`,
    unit: "microseconds",
    startValue: 0,
    endValue: end,
    samples,
    weights,
    ...(profile.unit() === "samples" ? { _cpuMicros: cpu, _states: states } : {}),
  };
}

function frameOf(profile: Profile, fn: number): object {
  const { name, file, line } = profile.functions[fn];
  if (file) return line ? { name, file, line } : { name, file };
  const path = libraryPath(profile, fn);
  return path ? { name, file: path } : { name };
}
