// The selection as the fragment of a URL: what is as at the start is left out. Links are cut, written
// by hand and kept for years: of what is read, only what has the form that views count on comes in.
import { COLOURINGS } from "../data/colour_keys";
import type { Filter } from "../data/filter";
import { GROUPS } from "../data/group";
import { KIND_NAMES } from "../data/kinds";
import { LANE_ORDERS } from "../data/layouts/lanes";
import type { Transform } from "../data/shape";
import {
  COLUMNS,
  FRAME_COLUMNS,
  LOOP_COLUMNS,
  SLICE_COLUMNS,
  type Sort,
  STALL_COLUMNS,
  THREAD_COLUMNS,
} from "../data/sort";
import { EVENT_TABLES, type Selection, STALL_TABLES, START, VIEWS } from "./selection";

export function toFragment(selection: Selection): string {
  const words = new URLSearchParams();
  for (const name of Object.keys(START) as (keyof Selection)[]) {
    const text = JSON.stringify(selection[name]);
    if (text !== JSON.stringify(START[name]))
      words.set(name, typeof START[name] === "string" ? String(selection[name]) : text);
  }
  return words.toString();
}

/** What it does not know, or what has another form than it should, is left as at the start. */
export function fromFragment(fragment: string): Selection {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const selection = { ...START };
  const take = <K extends keyof Selection>(name: K) => {
    const word = words.get(name);
    if (word === null) return;
    selection[name] =
      READ[name](typeof START[name] === "string" ? word : parsed(word)) ?? START[name];
  };
  (Object.keys(START) as (keyof Selection)[]).forEach(take);
  const { tid } = Object(parsed(words.get("chart") ?? "")); // once the chart had one thread
  if (number(tid) !== undefined && !selection.filter.threads)
    selection.filter = { ...selection.filter, threads: [tid] };
  return selection;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Read<T> = (value: unknown) => T | undefined; // undefined: it has another form

const like =
  <T>(one: T): Read<T> =>
  (value) =>
    typeof value === typeof one ? (value as T) : undefined;
const text = like("");
const flag = like(false);

/** Of which differences can be told. */
const number: Read<number> = (value) =>
  typeof value === "number" && Math.abs(value) < 2 ** 53 ? value : undefined;

const oneOf =
  <T>(known: readonly T[]): Read<T> =>
  (value) =>
    known.find((one) => one === value);

const list =
  <T>(read: Read<T>): Read<T[]> =>
  (value) =>
    Array.isArray(value) && value.every((one) => read(one) !== undefined) ? value : undefined;

const span: Read<[number, number]> = (value) => {
  const [from, to, ...more] = list(number)(value) ?? [];
  return from < to && !more.length ? [from, to] : undefined;
};

const part: Read<[number, number]> = (value) => {
  const read = span(value);
  return read && read[0] < 1 && read[1] > 0 ? read : undefined;
};

/** Members that are missing or of another form are as in start. */
const record =
  <T extends object>(start: T, fields: { [K in keyof T]-?: Read<T[K]> }): Read<T> =>
  (value) => {
    const read = { ...start };
    for (const name in fields) {
      const member = fields[name](Object(value)[name]);
      if (member !== undefined) read[name] = member;
    }
    return read;
  };

const transform: Read<Transform> = (value) => {
  const { kind, fn, library } = Object(value);
  const named: Record<Transform["kind"], unknown> = {
    "hide-function": fn,
    "hide-library": library,
    "hide-system": "",
    "only-mine": "",
    "fold-runtime": "",
    "focus-function": fn,
    "drop-function": fn,
    "join-function": fn,
    "focus-library": library,
    "join-recursion": "",
  };
  return typeof named[kind as Transform["kind"]] === "string" ? (value as Transform) : undefined;
};

const sortFrom = (start: Sort) => record(start, { by: oneOf(COLUMNS), ascending: flag });

const READ: { [K in keyof Selection]: Read<Selection[K]> } = {
  view: oneOf(VIEWS),
  kind: oneOf(KIND_NAMES),
  filter: record<Omit<Filter, "until" | "until_us">>(START.filter, {
    window_us: span,
    processes: list(number),
    threads: list(number),
    tags: list(text),
    states: list(text),
    libraries: list(text),
    packages: list(text),
    kinds: list(text),
  }),
  transforms: list(transform),
  group: oneOf(GROUPS),
  colour: oneOf(COLOURINGS),
  picked: text,
  event: text,
  zoom: list(text),
  seen: part,
  search: record(START.search, { text, regex: flag }),
  unit: oneOf(["auto", "samples", "time"] as const),
  order: oneOf(["auto", "name", "weight"] as const),
  rootBelow: flag,
  inverted: flag,
  before: record(START.before, { kind: oneOf(["", "window", "file"] as const), window_us: span }),
  treeSort: sortFrom(START.treeSort),
  bottomUpSort: sortFrom(START.bottomUpSort),
  tableSort: sortFrom(START.tableSort),
  compareSort: sortFrom(START.compareSort),
  threadSort: record(START.threadSort, { by: oneOf(THREAD_COLUMNS), ascending: flag }),
  sliceSort: record(START.sliceSort, { by: oneOf(SLICE_COLUMNS), ascending: flag }),
  frameSort: record(START.frameSort, { by: oneOf(FRAME_COLUMNS), ascending: flag }),
  eventTable: oneOf(EVENT_TABLES),
  stall: (value) => (number(value)! >= 0 ? (value as number) : undefined),
  stallSort: record(START.stallSort, { by: oneOf(STALL_COLUMNS), ascending: flag }),
  loopSort: record(START.loopSort, { by: oneOf(LOOP_COLUMNS), ascending: flag }),
  stallTable: oneOf(STALL_TABLES),
  refresh: (value) => (number(value)! >= 1 ? (value as number) : undefined),
  chart: record(START.chart, { seen_us: span }),
  sandwich: record(START.sandwich, { of: text, middle: text }),
  source: record(START.source, { of: text, file: text }),
  assembly: flag,
  open: list(text),
  laneOrder: oneOf(LANE_ORDERS),
  treeOpen: list(number),
  bottomUpOpen: list(number),
  overview: span,
  laneFind: text,
};
