// What is picked, and seen how: one value for the whole page, that each change replaces.
import { batch, computed, signal } from "@preact/signals";
import type { SiblingOrder } from "../data/children";
import type { ColourBy } from "../data/colour_keys";
import type { Filter } from "../data/filter";
import type { GroupBy } from "../data/group";
import type { LaneOrder } from "../data/layouts/lanes";
import type { Search } from "../data/sums/search";
import type { FrameSort, LoopSort, SliceSort, Sort, StallSort, ThreadColumn } from "../data/sort";
import type { Transform } from "../data/shape";
import type { SamplesKind } from "../wire/protocol";
import type { Before, Unit } from "../worker/messages";

export const VIEWS = [
  "flame",
  "chart",
  "tree",
  "bottom-up",
  "table",
  "source",
  "compare",
  "heat-map",
  "threads",
  "sandwich",
  "events",
  "stalls",
] as const;
export type View = (typeof VIEWS)[number];

/** What is seen of the chart. Of what is not told: all time. */
export interface ChartSeen {
  seen_us?: [number, number];
}

export const EVENT_TABLES = ["slices", "frames"] as const;
export const STALL_TABLES = ["stalls", "loops"] as const;

export interface Selection {
  view: View;
  kind: SamplesKind; // where the service has it
  filter: Filter; // without until: that is of the moment
  transforms: Transform[];
  group: GroupBy;
  colour: ColourBy; // what colours of boxes, swatches and lanes stand for
  picked: string; // functionKey; "": nothing
  event: string; // that is picked, as eventKey has it: until a function is picked; "": none
  zoom: string[]; // functionKeys from the outermost on; empty: the whole
  seen: [number, number] | null; // by hand: parts of the width of flame graphs, 0 to 1
  search: Search;
  unit: Unit | "auto"; // auto: as the profile is, CPU time but in wall mode; of other kinds samples: their objects
  order: SiblingOrder | "auto"; // auto: by name while live, by weight while held
  rootBelow: boolean;
  inverted: boolean; // the flame graph: leaves are its first row
  before: Before; // what the view "compare" compares with
  treeSort: Sort;
  bottomUpSort: Sort;
  tableSort: Sort;
  compareSort: Sort;
  chart: ChartSeen;
  threadSort: Sort<ThreadColumn>;
  sliceSort: SliceSort;
  frameSort: FrameSort;
  eventTable: (typeof EVENT_TABLES)[number];
  stall: number; // that is picked; 0: none
  stallSort: StallSort;
  loopSort: LoopSort;
  stallTable: (typeof STALL_TABLES)[number];
  refresh: number; // pictures a second that frames are held against
  sandwich: { of: string; middle: string }; // the middle while that one is picked: a box beside it
  source: { of: string; file: string }; // chosen by hand, for one picked function
  assembly: boolean; // beside the source
  open: string[]; // keys of lanes: groups of threads that stand below them one by one
  laneOrder: LaneOrder;
  treeOpen: number[] | null; // keys of rows of the call tree; null: its hot path
  bottomUpOpen: number[];
  overview: [number, number] | null; // microseconds that the overview shows; null: all there is, growing
  laneFind: string; // of threads' names and numbers; "": all have lanes
}

export const START: Selection = {
  view: "flame",
  kind: "time",
  filter: {},
  transforms: [],
  group: "",
  colour: "library",
  picked: "",
  event: "",
  zoom: [],
  seen: null,
  search: { text: "", regex: false },
  unit: "auto",
  order: "auto",
  rootBelow: false,
  inverted: false,
  before: { kind: "" },
  treeSort: { by: "total", ascending: false },
  bottomUpSort: { by: "total", ascending: false },
  tableSort: { by: "self", ascending: false },
  compareSort: { by: "self", ascending: false },
  chart: {},
  threadSort: { by: "time", ascending: false },
  sliceSort: { by: "total", ascending: false },
  frameSort: { by: "start", ascending: true },
  eventTable: "slices",
  stall: 0,
  stallSort: { by: "number", ascending: false },
  loopSort: { by: "blocking", ascending: false },
  stallTable: "stalls",
  refresh: 60,
  sandwich: { of: "", middle: "" },
  source: { of: "", file: "" },
  assembly: false,
  open: [],
  laneOrder: "start",
  treeOpen: null,
  bottomUpOpen: [],
  overview: null,
  laneFind: "",
};

const STEPS_MOST = 100;

export const selection = signal<Selection>(START);
/** Which one it is: each that can be taken back has the next number. */
export const step = signal(0);
const before: Selection[] = []; // the steps before this one
const after: Selection[] = []; // that were taken back, the next one last
let going = ""; // what the last step is of, where more of it may come

/**
 * One step, that undo takes back. What changes nothing is none. of: what comes many times a second
 * is one step with what came of it before, until another one is made.
 */
export function select(change: Partial<Selection>, of = ""): void {
  // Where it was zoomed to by hand is of one view, and of one zoom.
  const isOther = "view" in change || "zoom" in change || "inverted" in change;
  const isFunction = "picked" in change && { event: "" };
  const next = { ...selection.value, ...(isOther && { seen: null }), ...isFunction, ...change };
  if (JSON.stringify(next) === JSON.stringify(selection.value)) return;
  const isStep = !of || of !== going;
  going = of;
  batch(() => {
    if (isStep) {
      before.push(selection.value);
      if (before.length > STEPS_MOST) before.shift();
      after.length = 0;
      step.value++;
    }
    selection.value = next;
  });
}

/** Is more to come of this step? */
export function isGoing(): boolean {
  return going !== "";
}

/** For what is typed or dragged: the whole of it is one step, begun by select. */
export function adjust(change: Partial<Selection>): void {
  selection.value = { ...selection.value, ...change };
}

/** Back or forth to a step. False: it is not known any more, and nothing changes. */
export function goToStep(wanted: number): boolean {
  const [from, to] = wanted < step.value ? [before, after] : [after, before];
  const count = Math.abs(wanted - step.value);
  if (from.length < count) return false;
  let now = selection.value;
  for (let i = 0; i < count; i++) {
    to.push(now);
    now = from.pop()!;
  }
  going = "";
  batch(() => {
    selection.value = now;
    step.value = wanted;
  });
  return true;
}

/** False: there is nothing to take back. */
export function undo(): boolean {
  return goToStep(step.value - 1);
}

export function transform(added: Transform): void {
  const { transforms } = selection.value;
  if (transforms.some((one) => JSON.stringify(one) === JSON.stringify(added))) return;
  // There is one focus at a time.
  const stay = transforms.filter((one) => !(isFocus(one) && isFocus(added)));
  select({ transforms: [...stay, added], zoom: [] });
}

export function untransform(removed: Transform): void {
  const text = JSON.stringify(removed);
  const transforms = selection.value.transforms.filter((one) => JSON.stringify(one) !== text);
  select({ transforms, zoom: [] });
}

export function toggle(one: Transform): void {
  const text = JSON.stringify(one);
  if (selection.value.transforms.some((other) => JSON.stringify(other) === text)) untransform(one);
  else transform(one);
}

/** A group of threads: its lanes shown or not. */
export function toggleOpen(key: string): void {
  const { open } = selection.value;
  select({ open: open.includes(key) ? open.filter((one) => one !== key) : [...open, key] });
}

function isFocus({ kind }: Transform): boolean {
  return kind === "focus-function" || kind === "focus-library";
}

export const systemHidden = computed(() =>
  selection.value.transforms.some(({ kind }) => kind === "hide-system"),
);

/** What is seen besides the user's functions. */
export const FRAMES = ["all", "only-mine", "fold-runtime", "hide-system"] as const;
export type Frames = (typeof FRAMES)[number];

export const framesShown = computed((): Frames => {
  const kinds = selection.value.transforms.map(({ kind }) => kind);
  return FRAMES.find((one) => one !== "all" && kinds.includes(one)) ?? "all";
});

export function showFrames(wanted: Frames): void {
  const others = selection.value.transforms.filter(({ kind }) => !(FRAMES as readonly string[]).includes(kind));
  select({ transforms: wanted === "all" ? others : [...others, { kind: wanted }], zoom: [] });
}
