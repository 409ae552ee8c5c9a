// A profile as an editor shows it: functions, lines and neighbours as shares, by the page's own tables.
//
// A reading is of one moment: make another one when the profile changed.
import { NOBODY, ROOT } from "../../../web/src/data/call_tree";
import type { Filter } from "../../../web/src/data/filter";
import { functionKey, type Transform } from "../../../web/src/data/shape";
import { heaviestStack } from "../../../web/src/data/sums/heaviest_stack";
import { linesOf } from "../../../web/src/data/sums/lines";
import { neighbours } from "../../../web/src/data/sums/neighbours";
import { byFunction, type Counted } from "../../../web/src/data/totals";
import type { Answers } from "../../../web/src/worker/answers";
import type { Unit } from "../../../web/src/worker/messages";

/** Of a function or a line: shares of all that the look shows, 0 to 1, and what they are made of. */
export interface Weight {
  self: number;
  total: number;
  selfSamples: number;
  totalSamples: number;
  self_ns: number; // CPU time; of other kinds bytes or time waited
  total_ns: number;
}

export interface FunctionFact extends Weight {
  fn: number; // the profile's number
  key: string; // library!name: the same in another run
  name: string;
  library: string;
  modulePath: string;
  file: string; // as the program was built; "": not known
  line: number; // 0: not known
  runtime: string; // what runs it, where that is no processor
}

export interface LineFact extends Weight {
  line: number;
}

export interface NeighbourFact {
  fn: number; // -1: the thread's first function has no caller
  name: string;
  share: number; // of all
  samples: number;
}

export interface Whole {
  samples: number;
  time_ns: number;
}

export class Reading {
  readonly unit: Unit; // that shares are of
  readonly whole: Whole;
  readonly functions: readonly FunctionFact[]; // with any weight, by total, then by self
  /** The tree of all that is shown, for what is not here. */
  readonly counted: Counted;
  #byFunction: Map<number, FunctionFact>;
  #lines = new Map<string, LineFact[]>();

  constructor(
    readonly answers: Answers,
    readonly filter: Filter = {},
    readonly transforms: Transform[] = [],
  ) {
    this.unit = answers.profile.unit();
    this.counted = answers.count({ filter, transforms, group: "" });
    const { samples, time_ns } = this.counted;
    this.whole = { samples: samples.total[ROOT], time_ns: time_ns.total[ROOT] };
    this.functions = this.#table();
    this.#byFunction = new Map(this.functions.map((one) => [one.fn, one]));
  }

  #table(): FunctionFact[] {
    const { calls } = this.counted;
    const count = this.answers.profile.functions.length;
    const [samples, time_ns] = [this.counted.samples, this.counted.time_ns].map((one) => byFunction(calls, one, count));
    const functions: FunctionFact[] = [];
    for (let fn = 0; fn < count; fn++) {
      if (samples.total[fn] === 0) continue;
      const sums = [samples.self[fn], samples.total[fn], time_ns.self[fn], time_ns.total[fn]] as const;
      functions.push({ ...this.#named(fn), ...this.#weight(this.whole, ...sums) });
    }
    return functions.sort((a, b) => b.total - a.total || b.self - a.self || (a.key < b.key ? -1 : 1));
  }

  #named(fn: number) {
    const { profile } = this.answers;
    const { name, file, line, library, runtime = "" } = profile.functions[fn];
    const { name: libraryName, path } = profile.libraries[library];
    return { fn, key: functionKey(profile, fn), name, library: libraryName, modulePath: path, file, line, runtime };
  }

  #weight(whole: Whole, selfSamples: number, totalSamples: number, self_ns: number, total_ns: number): Weight {
    const isTime = this.unit === "time";
    const all = (isTime ? whole.time_ns : whole.samples) || 1;
    const self = (isTime ? self_ns : selfSamples) / all;
    const total = (isTime ? total_ns : totalSamples) / all;
    return { self, total, selfSamples, totalSamples, self_ns, total_ns };
  }

  of(fn: number): FunctionFact | undefined {
    return this.#byFunction.get(fn);
  }

  /** Files that samples fell into, heaviest first; at most 100. */
  files(): string[] {
    return this.#linesOf("").files.map(({ file }) => file);
  }

  /** file: as the profile calls it. Lines with any weight, ascending. */
  lines(file: string): readonly LineFact[] {
    let lines = this.#lines.get(file);
    if (!lines) {
      const found = this.#linesOf(file);
      const { self, total, selfTime_ns, totalTime_ns, whole } = found;
      const facts = Array.from(found.lines, (line, i) => ({
        line,
        ...this.#weight(whole, self[i], total[i], selfTime_ns[i], totalTime_ns[i]),
      }));
      lines = found.file === file ? facts : []; // of one that it does not know it gives another
      this.#lines.set(file, lines);
    }
    return lines;
  }

  #linesOf(file: string) {
    return linesOf(this.answers.profile, this.filter, NOBODY, file, this.transforms);
  }

  /** Heaviest first. */
  neighbours(fn: number): { callers: NeighbourFact[]; callees: NeighbourFact[] } {
    const isTime = this.unit === "time";
    const { callers, callees } = neighbours(this.counted, fn, isTime ? "time_ns" : "samples");
    const all = (isTime ? this.whole.time_ns : this.whole.samples) || 1;
    const fact = ({ fn, samples, time_ns }: (typeof callers)[number]): NeighbourFact => ({
      fn,
      name: fn === NOBODY ? "" : this.answers.profile.functions[fn].name,
      share: (isTime ? time_ns : samples) / all,
      samples,
    });
    return { callers: callers.map(fact), callees: callees.map(fact) };
  }

  /** The heaviest stack through a function, outermost first. */
  hottestStack(fn: number): string[] {
    const { calls, samples, time_ns } = this.counted;
    const { total } = this.unit === "time" ? time_ns : samples;
    return heaviestStack(calls, total, fn).map((one) => this.answers.profile.functions[one].name);
  }
}
