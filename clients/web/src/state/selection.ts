// What is picked, and seen how: one value for the whole page, that each change replaces.
import { computed, signal } from "@preact/signals";
import type { SiblingOrder } from "../data/children";
import type { Filter } from "../data/filter";
import type { GroupBy } from "../data/group";
import type { Search } from "../data/search";
import type { Transform } from "../data/shape";
import type { Before, Unit } from "../worker/messages";

export const VIEWS = ["flame", "chart", "tree", "bottom-up", "table", "source", "compare"] as const;
export type View = (typeof VIEWS)[number];

export interface Selection {
  view: View;
  filter: Filter; // without until: that is of the moment
  transforms: Transform[];
  group: GroupBy;
  picked: string; // functionKey; "": nothing
  zoom: string[]; // functionKeys from the outermost on; empty: the whole
  search: Search;
  unit: Unit;
  order: SiblingOrder | "auto"; // auto: by name while live, by weight while held
  rootBelow: boolean;
  before: Before; // what the view "compare" compares with
  open: string[]; // keys of lanes: groups of threads that stand below them one by one
}

export const START: Selection = {
  view: "flame",
  filter: {},
  transforms: [{ kind: "hide-system" }],
  group: "",
  picked: "",
  zoom: [],
  search: { text: "", regex: false },
  unit: "samples",
  order: "auto",
  rootBelow: false,
  before: { kind: "" },
  open: [],
};

const UNDO_MOST = 100;

export const selection = signal<Selection>(START);
const undone: Selection[] = [];

/** One step, that undo takes back. What changes nothing is none. */
export function select(change: Partial<Selection>): void {
  const next = { ...selection.value, ...change };
  if (JSON.stringify(next) === JSON.stringify(selection.value)) return;
  undone.push(selection.value);
  if (undone.length > UNDO_MOST) undone.shift();
  selection.value = next;
}

/** For what is typed or dragged: the whole of it is one step, begun by select. */
export function adjust(change: Partial<Selection>): void {
  selection.value = { ...selection.value, ...change };
}

/** False: there is nothing to take back. */
export function undo(): boolean {
  const before = undone.pop();
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
