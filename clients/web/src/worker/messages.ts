// What page and worker say to each other. The worker owns connection and data; the page asks.
//
// Ownership  Typed arrays in an answer are the page's: they are moved, not copied.
import type { Comparison } from "../data/layouts/compare";
import type { ColourBy } from "../data/colour_keys";
import type { Legend } from "../data/colouring";
import type { Facets } from "../data/sums/facets";
import type { Form } from "../data/saved/save";
import type { SessionFacts } from "../data/files/session_read";
import type { SiblingOrder } from "../data/children";
import type { Filter } from "../data/filter";
import type { FlameRows } from "../data/layouts/flame_layout";
import type { GroupBy } from "../data/group";
import type { Lines } from "../data/sums/lines";
import type { Pcs } from "../data/sums/pcs";
import type { Neighbours } from "../data/sums/neighbours";
import type { HeatMap } from "../data/layouts/heat_map";
import type { LaneChoice } from "../data/layouts/lanes";
import type { Overview } from "../data/layouts/overview";
import type { FunctionInfo, LibraryInfo, ThreadInfo } from "../data/profile";
import type { Search } from "../data/sums/search";
import type { FrameSort, LoopSort, SliceSort, Sort, StallSort, ThreadColumn } from "../data/sort";
import type { StallBrief } from "../data/stalls/brief";
import type { LoopTable } from "../data/stalls/loops";
import type { Arrows } from "../data/timeline/arrows";
import type { EventDetails } from "../data/timeline/details";
import type { ToldSlice } from "../data/timeline/events";
import type { FrameTable } from "../data/timeline/frame_table";
import type { Strips } from "../data/timeline/strips";
import type { EventHits, SliceTable } from "../data/timeline/sums";
import type { Steps } from "../data/spread";
import type { ThreadSums } from "../data/sums/thread_rows";
import type { Transform } from "../data/shape";
import type { Totals } from "../data/totals";
import type { TreeRows } from "../data/layouts/tree_rows";
import type { Code } from "../wire/code";
import type { Sandwich } from "./sandwiches";
import type { LinkState } from "../wire/connection";
import type { SamplesKind, Stall } from "../wire/protocol";
import type { Command, ServiceInfo } from "../wire/service";

/** What samples, and seen how. */
export interface Look {
  filter: Filter;
  transforms: Transform[];
  group: GroupBy;
  unit?: Unit; // what sums and orders are of; samples
  asObjects?: boolean; // of kinds other than time, whose unit is "time": weights are objects
}

/** Transforms that fold many functions at once. */
export const FOLDINGS = ["hide-system", "only-mine", "fold-runtime"] as const;
export type Folding = (typeof FOLDINGS)[number];
export const isFolding = (kind: string): kind is Folding => (FOLDINGS as readonly string[]).includes(kind);

export type Unit = "samples" | "time";

export interface Summary {
  count: number; // samples of the filter
  shown: number; // of these, what the transforms leave in
  cpu_ns: number; // of kinds other than time their weight, as time_ns everywhere
  objects: number; // of kinds other than time
  variance: number; // of the sum of weights, of kinds other than time
  cut: number; // samples whose outer end is missing
  folded: Record<Folding, { samples: number; time_ns: number }>; // what each would fold has itself
}

export interface FunctionTable {
  samples: Totals; // by function
  time_ns: Totals;
  whole: { samples: number; time_ns: number };
}

/** Its rows: the functions that have any weight, and were found. */
export interface SortedFunctions extends FunctionTable {
  rows: Int32Array;
  sort: Sort;
}

/** Threads that have samples, and were found. */
export interface ThreadTable extends ThreadSums {
  rows: Int32Array; // numbers of threads, sorted
}

/** What siblings stand in the order of. */
export interface Sorting {
  sort: Sort;
}

export interface SortedRows extends TreeRows {
  sort: Sort; // that they stand in
}

export interface SearchResult {
  of: Search; // what was searched for
  error: string; // of the expression; "" when it is one
  hits: Uint8Array; // by function
  order: Int32Array; // of these the ones that have samples, heaviest first
  totals: Float64Array; // of these, in that order
  whole: number; // what they are of
  nodes: number;
  share: number; // of the samples, 0 to 1
  events?: EventHits;
}

/** What the look is compared with. */
export interface Before {
  kind: "" | "window" | "file"; // "": nothing yet
  window_us?: [number, number];
}

export interface Compared extends Comparison {
  isTime: boolean; // what wholes are of; else samples
}

/** A file that was opened. */
export interface OpenedFile {
  name: string;
  form: string;
  samples: number;
  timeless: boolean; // it tells no times: samples stand one after another
  session: SessionFacts | null; // null: it is none
}

export interface WholeFile {
  name: string; // "": of no file, but of the service's
  isSession: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Boxes that are joined have fn -1. */
export interface ChartRows extends FlameRows {
  origin_us: number;
  told: ToldSlice[]; // by label
  arrows: Arrows | null;
}

/** Each kind of question: what it takes and gives. */
export interface Questions {
  summary: { args: Look; answer: Summary };
  overview: {
    args: {
      range_us: [number, number] | null;
      maxSteps: number;
      maxLanes: number;
      choice: LaneChoice;
      colour?: ColourBy;
    };
    answer: Overview | null; // null: there are no samples
  };
  flame: {
    args: Look & { order: SiblingOrder; inverted?: boolean; colour?: ColourBy };
    answer: FlameRows; // inverted: nothing is told of self, which the first row is
  };
  legend: { args: Look & { colour: ColourBy }; answer: Legend };
  chart: {
    args: Look & {
      threads: number[]; // of the profile, as they are to stand
      closed?: number[]; // of these: only their names
      origin_us: number;
      extent_us: number;
      thin_us: number;
      colour?: ColourBy;
    };
    answer: ChartRows;
  };
  sandwich: {
    args: Look & { fn: number; order: SiblingOrder; colour?: ColourBy }; // fn -1: the heaviest by self
    answer: Sandwich;
  };
  tree: { args: Look & Sorting; answer: SortedRows };
  bottomUp: { args: Look & Sorting & { opened: number[] }; answer: SortedRows };
  functions: { args: Look; answer: FunctionTable };
  table: { args: Look & Sorting & { search: Search | null }; answer: SortedFunctions };
  neighbours: { args: Look & { fn: number }; answer: Neighbours };
  activity: { args: Steps & { filter: Filter; fn: number }; answer: Float64Array };
  /** The filter's time does not count: it is what the map selects. */
  heat: {
    args: Look & { range_us: [number, number] | null; maxColumns: number };
    answer: HeatMap | null; // null: there are no samples
  };
  baseline: { args: Steps; answer: Float64Array | null }; // processors in use in the file, from the same start
  threads: { args: Look; answer: Float64Array }; // samples by thread
  threadTable: {
    args: Look & { sort: Sort<ThreadColumn>; find: string };
    answer: ThreadTable | null; // null: there are no samples
  };
  slices: { args: { filter: Filter; sort: SliceSort; search: Search | null }; answer: SliceTable | null };
  strips: { args: { window_us: [number, number]; width: number; refresh: number }; answer: Strips | null }; // null: there are no events, as of the one before
  frames: { args: { filter: Filter; refresh: number; sort: FrameSort; search: Search | null }; answer: FrameTable | null };
  /** until_us: only those that had begun by then. null: nothing is known of any, as of the next two. */
  stalls: { args: { sort: StallSort; search: Search | null; until_us?: number }; answer: StallBrief[] | null };
  stall: { args: { number: number }; answer: Stall | null };
  loops: { args: { sort: LoopSort; turn: number }; answer: LoopTable | null }; // turn: another one asks anew
  event: { args: { key: string }; answer: EventDetails | null }; // null: there is none
  lines: { args: Look & { fn: number; file: string }; answer: Lines };
  pcs: { args: Look & { fn: number; ranges: [number, number][] }; answer: Pcs };
  code: { args: { fn: number }; answer: Code };
  source: { args: { file: string }; answer: string | null }; // null: the service does not give it
  search: { args: Look & { search: Search }; answer: SearchResult };
  compare: { args: Look & { before: Before }; answer: Compared | null };
  call: { args: ServiceCall; answer: unknown }; // of the service, as it is: only live
  facets: { args: Look; answer: Facets };
  stack: { args: Look & { fn: number }; answer: number[] }; // the heaviest one, outermost first
  whole: { args: object; answer: WholeFile }; // all that is shown, whatever the filters are
  save: { args: Look & { form: Form; name: string }; answer: string | Uint8Array<ArrayBuffer> };
}

/** What a view may ask of the service itself, and of no file. */
export interface ServiceCall {
  method: "_getProcessList" | "_setProcessSampling" | "_attach" | "_detach";
  params: object;
}

export type Kind = keyof Questions;

/** shown: instead of what the service sends; compared: beside what is shown. */
export type FileUse = "shown" | "compared";
export type Files = Record<FileUse, OpenedFile | null>;

export type ToWorker =
  | { say: "connect"; base: string }
  | { say: "retry" }
  | { say: "readInfo" } // figures that no event tells of
  | { say: "command"; command: Command }
  | { say: "open"; as: FileUse; name: string; content: ArrayBuffer }
  | { say: "close"; as: FileUse }
  | { say: "show"; kind: SamplesKind; held: boolean } // samples of that kind, of the service or the file
  | { say: "keep"; name: string } // what is shown now, to be compared with
  | { say: "ask"; id: number; kind: Kind; args: Questions[Kind]["args"] };

/** What is known of the data, after each change of it. */
export interface DataState {
  version: number; // grows with each change
  resets: number; // another one: all numbers of before are void
  samples: number; // that ever came, those that were dropped among them
  evicted: number;
  extent_us: [number, number] | null;
  period_us: number;
  kind: SamplesKind; // that the samples are of
  kinds: SamplesKind[]; // others of which the service has samples
  unit: Unit; // what shares are of, where the user has not said
  met: number; // of another kind than time: samples that the service ever took; 0: those that came
  lost: Record<string, number>; // ticks without a sample, by cause
  missed_ns: number; // CPU time that no sample stands for
  threads: ThreadInfo[];
  events: number; // of the timeline; 0 where programs told none themselves
  lostEvents: number;
  evictedEvents: number;
  eventsOf: number[]; // by thread
  stalls: number; // that are known
  ongoingStalls: number; // of these, those that have not ended
  processNames: Map<number, string>; // by pid
  tags: string[]; // "": none was set
  hasTags: boolean;
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
