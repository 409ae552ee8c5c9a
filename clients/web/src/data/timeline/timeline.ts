// What programs told: slices by thread and depth, instants, counters, flows and frames, each in columns of its own.
//
//   replies of _getTimeline (table_reader.ts), blocks of a session -> tell -> Track, Series, Flows, Arguments
//
// Units  Nanoseconds since origin_us, which is microseconds of the samples' clock.
import type { TimelineBlock, TimelineTable } from "../../wire/protocol";
import { FloatColumn, PairIndex, TextIndex } from "../columns";
import { Arguments, type Value } from "./arguments";
import { Flows, type FlowStep } from "./flows";
import { Series } from "./series";
import { Track } from "./track";

export type Mark = TimelineBlock["marks"][number];

/** It has not ended. */
export interface Open {
  start: number;
  duration: number; // until what came last
  label: number;
  given: [string, Value][]; // arguments
}

export interface Row {
  key: string; // in its thread: "0" is the outermost depth, "i" instants, "a0" what others overlap, "f0" frames
  track: Track;
  open: Open[];
}

export interface EventThread {
  pid: number;
  tid: number;
  name: string;
  events: number;
  rows: Map<string, Row>;
}

export interface Counter {
  pid: number;
  name: string;
  series: Series;
}

/** Both ends, or the one that came. */
interface Half {
  begin?: { thread: number; time: number; serial: number };
  end?: number;
}

/** As it comes. */
export interface Told {
  thread: number; // of the timeline's
  name: string; // "": an end without a begin
  stream: string;
  start: number;
  duration: number;
  depth: number;
  id: string; // hexadecimal
  given: [name: string, value: Value][]; // arguments
}

export const NO_BEGIN = "end without a begin";
const SERVICE = 0; // the tid of what the service tells of a process
const ASYNC_ROWS = 16; // of a thread; what needs more overlaps in the last one
const NOTED = 4096; // of so many events the start of one is noted, for what is dropped

const HEX = 16;
/** Is a series its counter's only one, by its name? */
const isPlain = (series: string, counter: string) => ["", "value", counter].includes(series);

export class Timeline {
  readonly texts = new TextIndex();
  readonly labels = new PairIndex(); // name, stream: texts
  readonly streams: number[] = []; // texts, in the order in which they came
  readonly threads: EventThread[] = [];
  readonly counters = new Map<string, Counter>();
  readonly flows = new Flows();
  readonly arguments = new Arguments();
  readonly marks = new Map<number, Mark>(); // by serial
  readonly numbers = new Map<number, number>(); // of frames, by serial
  readonly counts = new FloatColumn(); // events by label
  origin_us = 0;
  first = Infinity; // the earliest start of what programs told themselves
  last = 0; // the latest end of that
  lost = 0; // that were told, and came to no store
  #let = 0; // of the oldest, by the service
  #dropped = 0; // serials below
  #serial = 0;
  #noted = new FloatColumn(); // starts
  #threadOf = new Map<string, number>();
  #halves = new Map<string, Half>();

  /** The oldest that are no more, there and here. */
  get evicted(): number {
    return Math.max(this.#let, this.#dropped);
  }

  /** That are held. */
  get length(): number {
    return this.#serial - this.#dropped;
  }

  /** Of what programs told themselves; null: nothing. */
  extent_us(): [number, number] | null {
    if (this.first === Infinity) return null;
    return [Math.floor(this.origin_us + this.first / 1000), Math.ceil(this.origin_us + this.last / 1000)];
  }

  nameOf(label: number): string {
    return this.texts.texts[this.labels.a.data[label]];
  }

  streamOf(label: number): string {
    return this.texts.texts[this.labels.b.data[label]];
  }

  label(name: string, stream: string): number {
    const of = this.texts.intern(stream);
    if (!this.streams.includes(of)) this.streams.push(of);
    const label = this.labels.intern(this.texts.intern(name), of);
    if (label === this.counts.length) this.counts.push(0);
    return label;
  }

  thread(pid: number, tid: number, name: string): number {
    const key = `${pid}/${tid}`;
    let number = this.#threadOf.get(key);
    if (number === undefined) {
      number = this.threads.push({ pid, tid, name, events: 0, rows: new Map() }) - 1;
      this.#threadOf.set(key, number);
    }
    if (name) this.threads[number].name = name;
    return number;
  }

  row(thread: number, key: string): Row {
    const { rows } = this.threads[thread];
    let row = rows.get(key);
    if (!row) rows.set(key, (row = { key, track: new Track(), open: [] }));
    return row;
  }

  /** What the service has lost and let go of, in all. */
  missing({ lost, unstored, tooDeep, evicted }: TimelineTable["history"]): void {
    this.lost = lost + unstored + tooDeep;
    this.#let = evicted;
  }

  settle(): void {
    for (const { rows } of this.threads) for (const { track } of rows.values()) track.settle();
  }

  /** Returns its serial. */
  event(thread: number, start: number, duration: number, label: number): number {
    if (this.#serial % NOTED === 0) this.#noted.push(start);
    this.threads[thread].events++;
    if (this.threads[thread].tid !== SERVICE) {
      this.first = Math.min(this.first, start);
      this.last = Math.max(this.last, start + duration);
    }
    this.counts.data[label]++;
    return this.#serial++;
  }

  slice(thread: number, key: string, start: number, duration: number, label: number): number {
    const serial = this.event(thread, start, duration, label);
    this.row(thread, key).track.push(start, duration, label, serial);
    return serial;
  }

  count(pid: number, name: string, time: number, value: number): void {
    const key = `${pid} ${name}`;
    let counter = this.counters.get(key);
    if (!counter) this.counters.set(key, (counter = { pid, name, series: new Series() }));
    counter.series.push(time, value);
  }

  /** Begins and ends somewhere; a slice of the thread where it began, once both are known. */
  half(key: string, isBegin: boolean, thread: number, time: number, label: number): number {
    const serial = this.event(thread, time, 0, label);
    const half = this.#halves.get(key) ?? {};
    if (isBegin) half.begin = { thread, time, serial };
    else half.end = time;
    if (half.begin === undefined || half.end === undefined) {
      this.#halves.set(key, half);
      return serial;
    }
    this.#halves.delete(key);
    const { begin, end } = half;
    let place = 0;
    for (; place < ASYNC_ROWS - 1; place++) {
      const { track } = this.row(begin.thread, `a${place}`);
      if (!track.length || track.end(track.length - 1) <= begin.time) break;
    }
    this.row(begin.thread, `a${place}`).track.push(begin.time, Math.max(0, end - begin.time), label, begin.serial);
    return serial;
  }

  /** What has begun and not ended, as it is now. */
  openHalves(thread: number): Open[] {
    const open: Open[] = [];
    for (const [key, { begin }] of this.#halves)
      if (begin?.thread === thread)
        open.push({
          ...{ start: begin.time, duration: this.last - begin.time, label: Number(key.split(" ", 1)[0]) },
          given: this.arguments.of(begin.serial),
        });
    return open;
  }

  /** Hardly more than count stay: many are dropped at once, for that moves all others. */
  keep(count: number): void {
    if (this.length < 1.1 * count) return;
    const from = this.#serial - count - ((this.#serial - count) % NOTED);
    const notes = (from - this.#dropped) / NOTED;
    const time = this.#noted.data[notes];
    if (this.first < time) this.first = time;
    for (const { rows } of this.threads) for (const { track } of rows.values()) track.drop(from);
    for (const { series } of this.counters.values()) series.drop(time);
    this.flows.drop(time);
    this.arguments.drop(from);
    for (const map of [this.marks, this.numbers])
      for (const serial of map.keys()) if (serial < from) map.delete(serial);
    this.#noted.drop(notes);
    this.#dropped = from;
  }

  /** A slice that has not ended. */
  stands({ thread, name, stream, start, duration, depth, given }: Told): void {
    this.row(thread, String(depth)).open.push({ start, duration, label: this.label(name, stream), given });
  }

  /** mark "": it is whole. */
  tell(kind: string, one: Told, mark: Mark | ""): void {
    const { stream, name } = one;
    const label = this.label(name || NO_BEGIN, stream);
    const serial = this.#place(kind, { ...one, label }, mark);
    if (kind !== "Counter") for (const [name, value] of one.given) this.arguments.push(serial, name, value);
    if (mark) this.marks.set(serial, mark);
  }

  #place(kind: string, one: Told & { label: number }, mark: Mark | ""): number {
    const { thread, label, start, duration } = one;
    const { pid, rows } = this.threads[thread];
    switch (kind) {
      case "Slice":
        return this.slice(thread, mark === "NoBegin" ? "i" : String(one.depth), start, duration, label);
      case "AsyncBegin":
      case "AsyncEnd":
        return this.half(`${label} ${pid} ${one.id}`, kind === "AsyncBegin", thread, start, label);
      case "FlowBegin":
      case "FlowStep":
      case "FlowEnd": {
        this.flows.add(`${label} ${one.id}`, kind satisfies FlowStep, { thread, time: start }, label);
        return this.event(thread, start, 0, label);
      }
      case "Counter":
        for (const [name, value] of one.given)
          if (typeof value === "number") this.count(pid, isPlain(name, one.name) ? one.name : `${one.name}: ${name}`, start, value);
        return this.event(thread, start, 0, label);
      case "Frame": {
        const known = [...rows.values()].filter(({ key }) => key[0] === "f");
        const place = known.find(({ track }) => track.label.data[0] === label)?.key ?? `f${known.length}`;
        const serial = this.slice(thread, place, start, duration, label);
        this.numbers.set(serial, parseInt(one.id, HEX) || 0);
        return serial;
      }
      default: // instants, of any kind
        return this.slice(thread, "i", start, 0, label);
    }
  }
}
