// Reads pprof's profile.proto, unzipped: also other writers'. Without a number of samples each entry
// is one; a profile that measures no time has none here.
import type { Profile } from "../profile";
import { BadFile, Builder } from "./builder";
import {
  FUNCTION,
  LABEL,
  LINE,
  LOCATION,
  MAPPING,
  PROFILE,
  SAMPLE,
  VALUE_TYPE,
} from "./pprof_fields";
import { fields, message, numberFields, numbers, signed, type Value } from "./protobuf";

const UNIT_NS: Record<string, number> = {
  nanoseconds: 1,
  microseconds: 1e3,
  milliseconds: 1e6,
  seconds: 1e9,
};

export function readPprof(bytes: Uint8Array): Profile {
  return new Reader(bytes).profile();
}

class Reader {
  #builder = new Builder();
  #parts = new Map<number, Value[]>();
  #texts: string[];
  #locations = new Map<number, number[]>(); // places, innermost first
  #tids = new Map<string, number>();

  constructor(bytes: Uint8Array) {
    fields(bytes, (field, value) => {
      const list = this.#parts.get(field);
      if (list) list.push(value);
      else this.#parts.set(field, [value]);
    });
    const decoder = new TextDecoder();
    this.#texts = this.#all(PROFILE.string).map((value) => decoder.decode(message(value)));
    if (!this.#texts.length) throw new BadFile("not a pprof profile: it has no names");
  }

  #all(field: number): Value[] {
    return this.#parts.get(field) ?? [];
  }

  #text(number = 0): string {
    const text = this.#texts[number];
    if (text === undefined) throw new BadFile(`there is no string ${number}`);
    return text;
  }

  profile(): Profile {
    const { count, time, unit_ns } = this.#columns();
    this.#readLocations();
    for (const sample of this.#all(PROFILE.sample)) this.#add(sample, count, time, unit_ns);
    this.#readPeriod();
    return this.#builder.profile;
  }

  /** Which value is the number of samples, and which the time; -1: none. */
  #columns(): { count: number; time: number; unit_ns: number } {
    const kinds = this.#all(PROFILE.sampleType).map((value) => {
      const entry = numberFields(value);
      return [this.#text(entry.get(VALUE_TYPE.type)), this.#text(entry.get(VALUE_TYPE.unit))];
    });
    const count = kinds.findIndex(([kind, unit]) => unit === "count" && /^samples?$/.test(kind));
    const time = kinds.findIndex(([, unit]) => unit in UNIT_NS);
    if (count < 0 && time < 0) {
      const there = kinds.map((kind) => kind.join("/")).join(", ") || "nothing";
      throw new BadFile(`pprof profile of ${there}: it counts neither samples nor time`);
    }
    return { count, time, unit_ns: time < 0 ? 0 : UNIT_NS[kinds[time][1]] };
  }

  #readLocations(): void {
    const mappings = new Map<number, number>();
    for (const value of this.#all(PROFILE.mapping)) {
      const entry = numberFields(value);
      const path = this.#text(entry.get(MAPPING.file));
      mappings.set(entry.get(MAPPING.id) ?? 0, this.#builder.library(path));
    }
    const raw = new Map<number, Map<number, number>>();
    for (const value of this.#all(PROFILE.function)) {
      const entry = numberFields(value);
      raw.set(entry.get(FUNCTION.id) ?? 0, entry);
    }
    const made = new Map<number, number>();
    const fn = (id: number, library: number | undefined): number => {
      let number = made.get(id);
      if (number !== undefined) return number;
      const entry = raw.get(id);
      if (!entry) throw new BadFile(`there is no function ${id}`);
      number = this.#builder.fn({
        name:
          this.#text(entry.get(FUNCTION.name)) || this.#text(entry.get(FUNCTION.systemName)) || "?",
        library,
        file: this.#text(entry.get(FUNCTION.file)),
        line: signed(entry.get(FUNCTION.line) ?? 0),
      });
      made.set(id, number);
      return number;
    };
    for (const value of this.#all(PROFILE.location))
      this.#readLocation(message(value), mappings, fn);
  }

  #readLocation(
    bytes: Uint8Array,
    mappings: Map<number, number>,
    fn: (id: number, library: number | undefined) => number,
  ): void {
    const entry = numberFields(bytes);
    const library = mappings.get(entry.get(LOCATION.mapping) ?? 0);
    const lines: [number, number][] = []; // function, line
    fields(bytes, (field, value) => {
      if (field !== LOCATION.line) return;
      const line = numberFields(value);
      lines.push([fn(line.get(LINE.function) ?? 0, library), signed(line.get(LINE.line) ?? 0)]);
    });
    if (!lines.length) {
      const name = `0x${(entry.get(LOCATION.address) ?? 0).toString(16)}`; // nobody has named it
      lines.push([this.#builder.fn({ name, library }), 0]);
    }
    const places = lines.map(([fn, line], i) =>
      this.#builder.place(fn, line, i + 1 < lines.length),
    );
    this.#locations.set(entry.get(LOCATION.id) ?? 0, places);
  }

  #add(sample: Value, countAt: number, timeAt: number, unit_ns: number): void {
    const locations: number[] = [];
    const values: number[] = [];
    const labels = new Map<string, string | number>();
    fields(message(sample), (field, value) => {
      if (field === SAMPLE.location) locations.push(...numbers(value));
      else if (field === SAMPLE.value) values.push(...numbers(value).map(signed));
      else if (field === SAMPLE.label) this.#readLabel(value, labels);
    });
    const builder = this.#builder;
    let stack = 0;
    for (const id of locations.reverse()) {
      const places = this.#locations.get(id);
      if (!places) throw new BadFile(`there is no location ${id}`);
      for (let i = places.length - 1; i >= 0; i--) stack = builder.profile.stack(stack, places[i]);
    }
    if (!stack) return;
    const text = (key: string) => String(labels.get(key) ?? "");
    const pid = Number(labels.get("pid")) || 0;
    if (labels.has("process")) builder.profile.processNames.set(pid, text("process"));
    builder.addMany(countAt < 0 ? 1 : (values[countAt] ?? 0), {
      stack,
      thread: this.#thread(pid, labels.get("tid"), text("thread")),
      cpu_ns: timeAt < 0 ? 0 : (values[timeAt] ?? 0) * unit_ns,
      tag: text("tag"),
      state: text("state"),
      whole: text("stack") !== "cut",
    });
  }

  /** Threads that only a name tells apart are several. */
  #thread(pid: number, tid: string | number | undefined, name: string): number {
    if (typeof tid === "number") return this.#builder.profile.thread(pid, tid, name);
    let number = this.#tids.get(name);
    if (number === undefined) this.#tids.set(name, (number = this.#tids.size));
    return this.#builder.profile.thread(pid, number, name);
  }

  #readLabel(value: Value, labels: Map<string, string | number>): void {
    const entry = numberFields(value);
    const text = this.#text(entry.get(LABEL.text));
    labels.set(this.#text(entry.get(LABEL.key)), text || signed(entry.get(LABEL.number) ?? 0));
  }

  #readPeriod(): void {
    const type = this.#all(PROFILE.periodType)[0];
    const unit = type === undefined ? "" : this.#text(numberFields(type).get(VALUE_TYPE.unit));
    const period = Number(this.#all(PROFILE.period)[0] ?? 0);
    if (unit in UNIT_NS && period)
      this.#builder.profile.period_us = (period * UNIT_NS[unit]) / 1000;
    else this.#builder.middlePeriod();
  }
}
