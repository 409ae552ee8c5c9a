// What page and worker say to each other. The worker owns connection and data; the page asks.
//
// Ownership  Typed arrays in an answer are the page's: they are moved, not copied.
import type { Comparison } from "../data/compare";
import type { Facets } from "../data/facets";
import type { Form } from "../data/files/save";
import type { Steps } from "../data/activity";
import type { SiblingOrder } from "../data/children";
import type { Filter } from "../data/filter";
import type { FlameRows } from "../data/flame_layout";
import type { GroupBy } from "../data/group";
import type { Lines } from "../data/lines";
import type { Neighbours } from "../data/neighbours";
import type { Overview } from "../data/overview";
import type { FunctionInfo, LibraryInfo, ThreadInfo } from "../data/profile";
import type { Search } from "../data/search";
import type { Sort } from "../data/sort";
import type { Transform } from "../data/shape";
import type { Totals } from "../data/totals";
import type { TreeRows } from "../data/tree_rows";
import type { LinkState } from "../wire/connection";
import type { Command, ServiceInfo } from "../wire/service";

/** What samples, and seen how. */
export interface Look {
  filter: Filter;
  transforms: Transform[];
  group: GroupBy;
}

export type Unit = "samples" | "time";

export interface Summary {
  count: number; // samples of the filter
  shown: number; // of these, what the transforms leave in
  cpu_ns: number;
  cut: number; // samples whose outer end is missing
}

export interface FunctionTable {
  samples: Totals; // by function
  time_ns: Totals;
  whole: { samples: number; time_ns: number };
}

/** What siblings stand in the order of, and by which weight. */
export interface Sorting {
  sort: Sort;
  unit: Unit;
}

export interface SortedRows extends TreeRows {
  sort: Sort; // that they stand in
}

export interface SearchResult {
  error: string; // of the expression; "" when it is one
  hits: Uint8Array; // by function
  order: Int32Array; // of these the ones that have samples, heaviest first
  nodes: number;
  share: number; // of the samples, 0 to 1
}

/** What the look is compared with. */
export interface Before {
  kind: "" | "window" | "file"; // "": nothing yet
  window_us?: [number, number];
}

/** A file that was opened. */
export interface OpenedFile {
  name: string;
  form: string;
  samples: number;
  timeless: boolean; // it tells no times: samples stand one after another
}

/** Each kind of question: what it takes and gives. */
export interface Questions {
  summary: { args: Look; answer: Summary };
  overview: {
    args: {
      range_us: [number, number] | null;
      maxSteps: number;
      maxLanes: number;
      open: string[]; // keys of groups of threads
    };
    answer: Overview | null; // null: there are no samples
  };
  flame: { args: Look & { order: SiblingOrder; unit: Unit }; answer: FlameRows };
  chart: {
    args: Look & { origin_us: number; extent_us: number; thin_us: number };
    answer: FlameRows & { origin_us: number }; // boxes that are joined have fn -1
  };
  tree: { args: Look & Sorting; answer: SortedRows };
  bottomUp: { args: Look & Sorting & { opened: number[] }; answer: SortedRows };
  functions: { args: Look; answer: FunctionTable };
  neighbours: { args: Look & { fn: number }; answer: Neighbours };
  activity: { args: Steps & { filter: Filter; fn: number }; answer: Float64Array };
  threads: { args: Look; answer: Float64Array }; // samples by thread
  lines: { args: Look & { fn: number; file: string }; answer: Lines };
  source: { args: { file: string }; answer: string | null }; // null: the service does not give it
  search: { args: Look & { search: Search }; answer: SearchResult };
  compare: { args: Look & { before: Before; unit: Unit }; answer: Comparison | null };
  facets: { args: Look; answer: Facets };
  stack: { args: Look & { fn: number }; answer: number[] }; // the heaviest one, outermost first
  save: { args: Look & { form: Form; name: string }; answer: string | Uint8Array<ArrayBuffer> };
}

export type Kind = keyof Questions;

/** shown: instead of what the service sends; compared: beside what is shown. */
export type FileUse = "shown" | "compared";
export type Files = Record<FileUse, OpenedFile | null>;

export type ToWorker =
  | { say: "connect"; base: string }
  | { say: "retry" }
  | { say: "command"; command: Command }
  | { say: "open"; as: FileUse; name: string; content: ArrayBuffer }
  | { say: "close"; as: FileUse }
  | { say: "ask"; id: number; kind: Kind; args: Questions[Kind]["args"] };

/** What is known of the data, after each change of it. */
export interface DataState {
  version: number; // grows with each change
  resets: number; // another one: all numbers of before are void
  samples: number; // that ever came, those that were dropped among them
  evicted: number;
  extent_us: [number, number] | null;
  period_us: number;
  lost: Record<string, number>; // ticks without a sample, by cause
  threads: ThreadInfo[];
  tags: string[];
  states: string[];
  // Names that go on where those before ended, or begin anew after a reset.
  firstFunction: number;
  functions: FunctionInfo[];
  firstLibrary: number;
  libraries: LibraryInfo[];
}

export type FromWorker =
  | { say: "link"; link: LinkState }
  | { say: "info"; info: ServiceInfo }
  | { say: "data"; data: DataState }
  | { say: "files"; files: Files; changed: FileUse }
  | { say: "problem"; problem: string }
  | { say: "answer"; id: number; answer: Questions[Kind]["answer"] }
  | { say: "failed"; id: number; reason: string };
