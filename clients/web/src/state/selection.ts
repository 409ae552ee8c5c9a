// What is picked, and seen how: one value for the whole page, that each change replaces.
import { computed, signal } from "@preact/signals";
import type { SiblingOrder } from "../data/children";
import type { Filter } from "../data/filter";
import type { GroupBy } from "../data/group";
import type { Search } from "../data/search";
import type { Sort } from "../data/sort";
import type { Transform } from "../data/shape";
import type { Before, Unit } from "../worker/messages";

export const VIEWS = ["flame", "chart", "tree", "bottom-up", "table", "source", "compare"] as const;
export type View = (typeof VIEWS)[number];

/** What is seen of the chart. Of what is not told: the busiest thread, all of its time. */
export interface ChartSeen {
  pid?: number;
  tid?: number;
  seen_us?: [number, number];
}

export interface Selection {
  view: View;
  filter: Filter; // without until: that is of the moment
  transforms: Transform[];
  group: GroupBy;
  picked: string; // functionKey; "": nothing
  zoom: string[]; // functionKeys from the outermost on; empty: the whole
  seen: [number, number] | null; // by hand: parts of the width of flame graphs, 0 to 1
  search: Search;
  unit: Unit;
  order: SiblingOrder | "auto"; // auto: by name while live, by weight while held
  rootBelow: boolean;
  before: Before; // what the view "compare" compares with
  treeSort: Sort;
  bottomUpSort: Sort;
  tableSort: Sort;
  compareSort: Sort;
  chart: ChartSeen;
  source: { of: string; file: string }; // chosen by hand, for one picked function
  open: string[]; // keys of lanes: groups of threads that stand below them one by one
}

export const START: Selection = {
  view: "flame",
  filter: {},
  transforms: [{ kind: "hide-system" }],
  group: "",
  picked: "",
  zoom: [],
  seen: null,
  search: { text: "", regex: false },
  unit: "samples",
  order: "auto",
  rootBelow: false,
  before: { kind: "" },
  treeSort: { by: "total", ascending: false },
  bottomUpSort: { by: "total", ascending: false },
  tableSort: { by: "self", ascending: false },
  compareSort: { by: "self", ascending: false },
  chart: {},
  source: { of: "", file: "" },
  open: [],
};

const UNDO_MOST = 100;

export const selection = signal<Selection>(START);
const undone: Selection[] = [];
let going = ""; // what the last step is of, where more of it may come

/**
 * One step, that undo takes back. What changes nothing is none. of: what comes many times a second
 * is one step with what came of it before, until another one is made.
 */
export function select(change: Partial<Selection>, of = ""): void {
  // Where it was zoomed to by hand is of one view, and of one zoom.
  const isOther = "view" in change || "zoom" in change;
  const next = { ...selection.value, ...(isOther && { seen: null }), ...change };
  if (JSON.stringify(next) === JSON.stringify(selection.value)) return;
  if (!of || of !== going) undone.push(selection.value);
  if (undone.length > UNDO_MOST) undone.shift();
  going = of;
  selection.value = next;
}

/** For what is typed or dragged: the whole of it is one step, begun by select. */
export function adjust(change: Partial<Selection>): void {
  selection.value = { ...selection.value, ...change };
}

/** False: there is nothing to take back. */
export function undo(): boolean {
  const before = undone.pop();
  going = "";
  if (before) selection.value = before;
  return Boolean(before);
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
