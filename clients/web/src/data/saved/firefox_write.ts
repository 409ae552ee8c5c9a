// The Firefox Profiler's processed form, version 66 (newer readers upgrade it).
//
// Times are from the profile's first sample on. User tags are markers, one from the first to the last of
// samples in a row. Lost: states, cut stacks, addresses, build ids.
import type { Profile } from "../profile";
import { byThread, type Chosen, type ThreadPlaces, widthsOf } from "../files/chosen";

const VERSION = 66;
const CATEGORIES = { Other: "grey", Program: "yellow", Library: "blue", "No source": "orange" };
const [OTHER, PROGRAM, LIBRARY, GENERATED] = [0, 1, 2, 3];
const RESOURCE_IS_LIBRARY = 1;
const INTERVAL = 1; // a marker's phase

export function writeFirefox(chosen: Chosen, name: string): string {
  const { profile, places } = chosen;
  const shared = new Shared(profile);
  const widthOf = widthsOf(profile);
  const { time_us } = profile.samples;
  const zero_us = places.reduce((least, i) => Math.min(least, time_us.data[i] - widthOf(i)), Infinity);
  const threads = byThread(chosen).map((one) => threadOf(profile, shared, one, zero_us));
  return JSON.stringify({
    meta: metaOf(profile, name),
    libs: profile.libraries.map((library) => ({
      ...{ arch: "", name: library.name, path: library.path },
      ...{ debugName: library.name, debugPath: library.path, breakpadId: "", codeId: "" },
    })),
    pages: [],
    counters: [],
    profilerOverhead: [],
    shared: shared.tables(),
    threads,
  });
}

/** Rows into columns. */
class Table {
  readonly #columns: [string, unknown[]][];
  length = 0;

  constructor(...names: string[]) {
    this.#columns = names.map((name) => [name, []]);
  }

  add(...row: unknown[]): number {
    this.#columns.forEach(([, column], i) => column.push(row[i]));
    return this.length++;
  }

  json(): object {
    return { length: this.length, ...Object.fromEntries(this.#columns) };
  }
}

/** The tables that all threads point into. Stack node n becomes stack n - 1, a library its resource. */
class Shared {
  #strings = new Map<string, number>();
  #sources = new Map<string, number>();
  #frames = new Table(
    ...["address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"],
    ...["innerWindowID", "line", "column", "originalLocation"],
  );
  #functions = new Table(
    ...["name", "isJS", "relevantForJS", "resource", "source", "lineNumber"],
    ...["columnNumber", "originalLocation"],
  );
  #resources = new Table("lib", "name", "host", "type");
  #sourceTable = new Table("id", "filename", "startLine", "startColumn", "sourceMapURL", "content");
  #stacks = new Table("frame", "prefixOffset");

  constructor(private readonly profile: Profile) {
    profile.libraries.forEach(({ name }, i) =>
      this.#resources.add(i, this.string(name), null, RESOURCE_IS_LIBRARY),
    );
    for (const { name, library, file, line } of profile.functions)
      this.#functions.add(
        ...[this.string(name), false, false, profile.libraries[library] ? library : -1],
        ...[file ? this.#source(file) : null, line || null, null, null],
      );
    this.#addStacks();
  }

  string(text: string): number {
    let number = this.#strings.get(text);
    if (number === undefined) this.#strings.set(text, (number = this.#strings.size));
    return number;
  }

  #source(file: string): number {
    let number = this.#sources.get(file);
    if (number === undefined) {
      number = this.#sourceTable.add(null, this.string(file), 1, 1, null, null);
      this.#sources.set(file, number);
    }
    return number;
  }

  #addStacks(): void {
    const { profile } = this;
    const { stackParents, stackPlaces } = profile;
    const known = new Map<string, number>();
    const depths = [0]; // of inlining; 0: a call was made
    for (let node = 1; node < stackParents.length; node++) {
      const [place, caller] = [stackPlaces[node], stackParents[node]];
      depths.push(profile.isInlined(place) && caller > 0 ? depths[caller] + 1 : 0);
      const key = `${place} ${depths[node]}`;
      let frame = known.get(key);
      if (frame === undefined) known.set(key, (frame = this.#frame(place, depths[node])));
      this.#stacks.add(frame, caller > 0 ? node - caller : 0);
    }
  }

  #frame(place: number, depth: number): number {
    const fn = this.profile.functionAt(place);
    const { line } = this.profile.linePlace(place);
    return this.#frames.add(
      ...[-1, depth, this.#category(fn), 0, fn, null, null, line || null, null, null],
    );
  }

  #category(fn: number): number {
    const { kind, library } = this.profile.functions[fn];
    if (kind === "Jit" || kind === "Interpreted") return GENERATED;
    const name = this.profile.libraries[library]?.name;
    if (!name) return OTHER;
    return [...this.profile.processNames.values()].includes(name) ? PROGRAM : LIBRARY;
  }

  tables(): object {
    return {
      stackTable: this.#stacks.json(),
      frameTable: this.#frames.json(),
      funcTable: this.#functions.json(),
      resourceTable: this.#resources.json(),
      nativeSymbols: new Table("libIndex", "address", "name", "functionSize").json(),
      sources: this.#sourceTable.json(),
      sourceLocationTable: new Table("source", "line", "column").json(),
      stringArray: [...this.#strings.keys()],
    };
  }
}

function threadOf(profile: Profile, shared: Shared, one: ThreadPlaces, zero_us: number): object {
  const { samples, processNames } = profile;
  const { pid, tid, name } = profile.threads[one.number];
  const program = processNames.get(pid) ?? "process";
  const times = one.places.map((i) => (samples.time_us.data[i] - zero_us) / 1000);
  const isTime = profile.unit() === "time";
  return {
    ...{ processType: "default", processName: program },
    ...{ processStartupTime: 0, processShutdownTime: null, registerTime: 0, unregisterTime: null },
    pausedRanges: [],
    name: name || program,
    isMainThread: tid === pid,
    showMarkersInTimeline: true,
    pid: String(pid),
    tid,
    samples: {
      length: times.length,
      stack: one.places.map((i) => samples.stack.data[i] - 1),
      time: times,
      weight: isTime ? one.places.map((i) => samples.cpu_ns.data[i] / 1e6) : null,
      weightType: isTime ? "tracing-ms" : "samples",
      threadCPUDelta: one.places.map((i) => Math.round(samples.cpu_ns.data[i] / 1000)),
    },
    markers: markersOf(profile, shared, one, times, ["", "Default", name, program]),
  };
}

function markersOf(
  profile: Profile,
  shared: Shared,
  { places }: ThreadPlaces,
  times: number[],
  untagged: string[],
): object {
  const markers = new Table("name", "startTime", "endTime", "phase", "category", "data");
  const tag = profile.samples.tag.data;
  for (let from = 0, to; from < places.length; from = to) {
    for (to = from + 1; to < places.length && tag[places[to]] === tag[places[from]]; ) to++;
    const name = profile.tags.texts[tag[places[from]]];
    if (untagged.includes(name)) continue;
    const data = { type: "UserTag", name };
    markers.add(shared.string(name), times[from], times[to - 1], INTERVAL, OTHER, data);
  }
  return markers.json();
}

function metaOf(profile: Profile, name: string): object {
  const label = "{marker.data.name}";
  return {
    interval: profile.period_us / 1000,
    ...{ startTime: 0, processType: 0, product: name, importedFrom: "isoscope", stackwalk: 1 },
    ...{ version: 24, preprocessedProfileVersion: VERSION, symbolicated: true },
    categories: Object.entries(CATEGORIES).map(([name, color]) => ({
      ...{ name, color, subcategories: ["Other"] },
    })),
    markerSchema: [
      {
        name: "UserTag",
        ...{ tooltipLabel: label, chartLabel: label, tableLabel: label },
        display: ["marker-chart", "marker-table", "timeline-overview"],
        fields: [{ key: "name", label: "Tag", format: "string" }],
      },
    ],
    sampleUnits: { time: "ms", eventDelay: "ms", threadCPUDelta: "µs" },
    usesOnlyOneStackType: true,
    sourceCodeIsNotOnSearchfox: true,
    pausedRanges: [],
    extensions: { length: 0, baseURL: [], id: [], name: [] },
  };
}
