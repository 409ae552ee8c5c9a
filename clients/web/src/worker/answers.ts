// Answers questions about one profile. What several questions build on is kept until it changes.
import { activity } from "../data/sums/activity";
import { childrenOf, nameRanks, type SiblingOrder, sortedChildren } from "../data/children";
import { bottomUp, type Row } from "../data/layouts/bottom_up";
import { chartBands } from "../data/layouts/chart_layout";
import { facets } from "../data/sums/facets";
import { type Weights, weigh } from "../data/filter";
import { flameLayout, type FlameRows } from "../data/layouts/flame_layout";
import { type CountedGroups, countGroups, type GroupBy, groupOf, groupText } from "../data/group";
import { heatMap } from "../data/layouts/heat_map";
import { inverted } from "../data/layouts/inverted";
import { heaviestStack } from "../data/sums/heaviest_stack";
import { waitBars } from "../data/layouts/wait_bars";
import { linesOf } from "../data/sums/lines";
import { pcsOf } from "../data/sums/pcs";
import { neighbours } from "../data/sums/neighbours";
import { overview } from "../data/layouts/overview";
import type { Profile } from "../data/profile";
import { found, foundIfAny, shareOf } from "../data/sums/search";
import { functionRows } from "../data/sums/function_rows";
import { threadRows, threadSums } from "../data/sums/thread_rows";
import { functionKey, type Shape, Shaper } from "../data/shape";
import {
  legendOf,
  nodeSlots,
  type Palette,
  paletteOf,
  threadSlots,
  type Weighed,
} from "../data/colouring";
import type { ColourBy } from "../data/colour_keys";
import { OTHERS } from "../data/colour_slots";
import { orderOf } from "../data/sort";
import { extent } from "../data/spread";
import { byFunction, type Counted, count, type Totals } from "../data/totals";
import { byThread } from "../data/sums/thread_totals";
import type { Events } from "../data/timeline/events";
import type { Stalls } from "../data/stalls/stalls";
import { treeRows, type WordOf, wordOf } from "../data/layouts/tree_rows";
import { type Calls, type CallTree, ROOT } from "../data/call_tree";
import { comparison, cpuFromStart } from "./comparing";
import { Kept } from "./kept";
import { sandwich } from "./sandwiches";
import type { FunctionTable, Kind, Look, Questions, SearchResult, Summary, Unit } from "./messages";

/** What is answered from profiles alone, and by the page's first file. */
export type Computed = Exclude<Kind, "code" | "source" | "save" | "whole" | "loops" | "call">;
type Answer<K extends Kind> = Questions[K]["answer"];
type Handlers = {
  [K in Computed]: (args: Questions[K]["args"]) => Answer<K> | Promise<Answer<K>>;
};

// Views ask for one look, comparison for two, colours for two more, and the one before is often the next one.
const LOOKS_KEPT = 5;

/** What a click on the legend filters by. */
const FILTERED = { library: "libraries", package: "packages", thread: "threads", kind: "kinds" } as const;

export class Answers {
  #shapers = new Kept<Shaper>(LOOKS_KEPT);
  #shapes = new Kept<Shape>(LOOKS_KEPT);
  #weights = new Kept<Weights>(LOOKS_KEPT);
  #counted = new Kept<Counted | CountedGroups>(LOOKS_KEPT);
  #ranks: Int32Array = new Int32Array(0);
  #palettes = new Kept<Palette>(LOOKS_KEPT);

  /** What it can be compared with. */
  other: Answers | null = null;

  #calls: CallTree; // that the shapers follow

  /** events: what programs told beside the samples; stalls: of their loops; null: nothing is known of any. */
  constructor(
    readonly profile: Profile,
    readonly events: Events | null = null,
    readonly stalls: Stalls | null = null,
  ) {
    this.#calls = profile.calls;
    this.#share();
  }

  #share(): void {
    this.events?.share(this.profile);
    this.stalls?.share(this.profile);
  }

  /** Of samples, events and stalls; null: there are none. */
  extent_us(): [number, number] | null {
    const all = [extent(this.profile), this.events?.timeline.extent_us(), this.stalls?.extent_us()].filter((one) => one != null);
    return all.length ? [Math.min(...all.map(([from]) => from)), Math.max(...all.map(([, to]) => to))] : null;
  }

  /** Samples came: what was counted is void. Shapes go on, but with another tree. */
  changed(): void {
    this.#share();
    if (this.#calls !== this.profile.calls) {
      this.#shapers.clear();
      this.#calls = this.profile.calls;
    }
    this.#shapes.clear();
    this.#weights.clear();
    this.#counted.clear();
    this.#palettes.clear();
  }

  async answer<K extends Computed>(kind: K, args: Questions[K]["args"]): Promise<Answer<K>> {
    return this.#handlers[kind](args);
  }

  #handlers: Handlers = {
    summary: (look) => {
      const { count, cpu_ns, objects, variance, cut, ...weights } = this.#weigh(look);
      const shown = this.count(look).samples.total[ROOT];
      return { count, cpu_ns, objects, variance, cut, shown, folded: foldedBy(this.profile, weights) };
    },
    overview: ({ range_us, maxSteps, maxLanes, choice, colour }) => {
      const range = range_us ?? this.extent_us();
      const { profile } = this;
      if (!range) return null;
      const late = this.stalls?.threadsIn(profile, range);
      const found = overview(profile, range, maxSteps, maxLanes, choice, this.#slotOf(colour), late);
      for (const lane of found.lanes) lane.slices = this.events?.lane(lane.threads, found);
      if (profile.samples.holder.length) found.waits = waitBars(profile, found, found.lanes, choice.order === "tag");
      return found;
    },
    legend: ({ colour, ...look }) => {
      const shown = this.#weighed(look);
      const palette = this.#palette(colour);
      if (colour === "heat") return legendOf(this.profile, colour, palette, shown, shown);
      const { [FILTERED[colour]]: _, ...filter } = look.filter;
      return legendOf(this.profile, colour, palette, shown, this.#weighed({ ...look, filter }));
    },
    flame: ({ order, unit, colour, inverted: isInverted, ...look }) => {
      const counted = this.count(look);
      const totals = weightOf(counted, unit);
      const turned = isInverted ? inverted(counted.calls, totals) : { calls: counted.calls, totals };
      const laidOut = this.#laidOut(turned.calls, turned.totals, order);
      const boxes = isInverted ? { ...laidOut, self: new Float64Array(0) } : laidOut;
      if (colour !== "kind" && (colour !== "thread" || isInverted)) return boxes;
      const palette = this.#palette(colour);
      const shown = { ...this.#weighed({ ...look, unit }), calls: turned.calls };
      const slots = nodeSlots(this.profile, colour, palette, shown);
      return { ...boxes, slots: Uint8Array.from(boxes.node, (node) => slots[node]) };
    },
    chart: ({ threads, closed = [], origin_us, extent_us, thin_us, colour, ...look }) => {
      const { profile, events } = this;
      const shape = this.#shape(look);
      const window_us = look.filter.window_us ?? [origin_us, origin_us + extent_us];
      const seen = { window_us, origin_us, whole: extent_us, thin_us };
      const above = (thread: number) => events && events.rows(thread, seen);
      const span = [origin_us, extent_us, thin_us, above] as const;
      const boxes = chartBands(profile, shape, look.filter, threads, closed, ...span);
      const rows = { ...boxes, origin_us, ...(events?.told(boxes, seen) ?? { told: [], arrows: null }) };
      if (colour === "thread") {
        const slots = threadSlots(profile, this.#palette(colour));
        return { ...rows, slots: bandSlots(rows, threads, slots) };
      }
      if (colour !== "kind") return rows;
      const shown = { ...this.#weighed({ ...look, group: "" }), calls: shape.calls };
      const slots = nodeSlots(this.profile, colour, this.#palette(colour), shown);
      const ofBox = (node: number) => (node < 0 ? OTHERS : slots[node]);
      return { ...rows, slots: Uint8Array.from(rows.node, ofBox) };
    },
    slices: ({ filter, sort, search }) => this.events && this.events.slices(filter, sort, search),
    strips: ({ window_us, width, refresh }) => this.events && this.events.strips(window_us, width, refresh),
    frames: ({ filter, refresh, sort, search }) => this.events && this.events.frames(filter, refresh, sort, search),
    stalls: ({ sort, search, until_us }) => this.stalls && this.stalls.rows(sort, search, until_us),
    stall: ({ number }) => this.stalls && this.stalls.one(number),
    event: ({ key }) => this.events && this.events.event(key),
    tree: ({ sort, unit, ...look }) => {
      const counted = this.count(look);
      const { calls, samples } = counted;
      const weights = weightOf(counted, unit);
      const columns = { ...weights, ...this.#textRanks(calls.functions) };
      const order = orderOf(sort, columns, [weights.total]);
      const children = sortedChildren(calls, samples.total, order);
      return { ...treeRows(counted, children, this.#words(look.group)), sort };
    },
    bottomUp: ({ opened, sort, unit, ...look }) => {
      const [totals, selves] =
        unit === "samples" ? (["total", "ends"] as const) : (["time_ns", "endsTime_ns"] as const);
      const sorted = (rows: Row[]) => {
        const total = Float64Array.from(rows, (row) => row[totals]);
        const self = Float64Array.from(rows, (row) => row[selves]);
        const texts = this.#textRanks(Int32Array.from(rows, ({ fn }) => fn));
        const order = orderOf(sort, { total, self, ...texts }, [total]);
        return Array.from(Int32Array.from(rows.keys()).sort(order), (row) => rows[row]);
      };
      const words = this.#words(look.group);
      return { ...bottomUp(this.count(look), new Set(opened), sorted, words), sort };
    },
    sandwich: ({ fn, order, colour, ...look }) => {
      const counted = this.count(look);
      const ranks = this.#nameRanks();
      const asked = { fn, order, ranks, functions: this.profile.functions.length };
      if (colour !== "kind") return sandwich(counted, weightOf(counted, look.unit), asked);
      const palette = this.#palette(colour);
      const slots = ({ calls }: { calls: Calls }) =>
        nodeSlots(this.profile, colour, palette, { ...this.#weighed(look), calls });
      return sandwich(counted, weightOf(counted, look.unit), { ...asked, slots });
    },
    functions: (look) => this.#functions(look),
    table: ({ sort, search, ...look }) => {
      const { functions, libraries } = this.profile;
      const table = this.#functions(look);
      const hits = search && foundIfAny(search, functions, libraries);
      const rows = functionRows(table[look.unit === "time" ? "time_ns" : "samples"], sort, hits, {
        name: (fn) => functions[fn].name,
        library: (fn) => libraries[functions[fn].library].name,
      });
      return { ...table, rows: Int32Array.from(rows), sort };
    },
    neighbours: ({ fn, ...look }) =>
      neighbours(this.count(look), fn, look.unit === "time" ? "time_ns" : "samples"),
    activity: ({ filter, fn, ...steps }) => activity(this.profile, filter, fn, steps),
    heat: ({ range_us, maxColumns, filter, ...look }) => {
      const all = extent(this.profile);
      const shape = this.#shape({ ...look, filter });
      const isTime = look.unit === "time";
      return all && heatMap(this.profile, shape, filter, isTime, all[0], range_us ?? all, maxColumns, look.asObjects);
    },
    baseline: (steps) => this.other && cpuFromStart(this.other.profile, steps, this.profile),
    threads: ({ filter }) => byThread(this.profile, filter),
    threadTable: ({ sort, find, unit = "samples", ...look }) => {
      const { profile } = this;
      const span = look.filter.window_us ?? extent(profile);
      if (!span) return null;
      const sums = threadSums(profile, this.#shape(look), look.filter, span, unit, look.asObjects);
      return { ...sums, rows: threadRows(profile, sums, sort, find) };
    },
    pcs: ({ fn, ranges, filter, asObjects }) => pcsOf(this.profile, filter, fn, ranges, asObjects),
    lines: ({ fn, file, filter, transforms, asObjects }) =>
      linesOf(this.profile, filter, fn, file, transforms, asObjects),
    search: ({ search, ...look }) => this.#search(look, search),
    compare: ({ before, ...look }) => comparison(this, this.other, look, before),
    facets: ({ filter }) => facets(this.profile, filter),
    stack: ({ fn, ...look }) => {
      const counted = this.count(look);
      return heaviestStack(counted.calls, weightOf(counted, look.unit).total, fn);
    },
  };

  #functions(look: Look): FunctionTable {
    const { calls, samples, time_ns } = this.count(look);
    const functionCount = this.profile.functions.length;
    return {
      samples: byFunction(calls, samples, functionCount),
      time_ns: byFunction(calls, time_ns, functionCount),
      whole: { samples: samples.total[ROOT], time_ns: time_ns.total[ROOT] },
    };
  }

  #search(look: Look, search: Questions["search"]["args"]["search"]): SearchResult {
    try {
      const hits = found(search, this.profile.functions, this.profile.libraries);
      const counted = this.count(look);
      const totals = weightOf(counted, look.unit);
      const { nodes, weight } = shareOf(counted.calls, totals, hits);
      const share = weight / (totals.total[ROOT] || 1);
      const { total } = byFunction(counted.calls, totals, hits.length);
      const order = Int32Array.from(hits.keys())
        .filter((fn) => hits[fn] && total[fn] > 0)
        .sort((a, b) => total[b] - total[a] || a - b);
      const weights = Float64Array.from(order, (fn) => total[fn]);
      const whole = totals.total[ROOT];
      const events = this.events?.hits(search);
      return { of: search, error: "", hits, order, totals: weights, whole, nodes, share, events };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return {
        of: search,
        error: error.message,
        hits: new Uint8Array(0),
        order: new Int32Array(0),
        totals: new Float64Array(0),
        whole: 0,
        nodes: 0,
        share: 0,
      };
    }
  }

  #weighed(look: Look): Weighed {
    const { profile } = this;
    const counted = this.count(look);
    const { nodeOf } = this.#shape(look);
    const stack = profile.samples.stack.data;
    const { callOf } = profile;
    return {
      leafOf: (sample) => nodeOf[callOf[stack[sample]]],
      ...counted,
      totals: weightOf(counted, look.unit),
      filter: look.filter,
      weights: look.unit === "time" ? profile.weights(look.asObjects) : null,
    };
  }

  #whole(): Weighed {
    return this.#weighed({ filter: {}, transforms: [], group: "", unit: this.profile.unit() });
  }

  #palette(colour: ColourBy): Palette {
    return this.#palettes.get(colour, () => paletteOf(this.profile, colour, this.#whole()));
  }

  /** The colour of each sample: of its leaf, or its thread. */
  #slotOf(colour: ColourBy = "library"): (sample: number) => number {
    const { profile } = this;
    const { stack, thread } = profile.samples;
    const palette = this.#palette(colour);
    const { callOf } = profile;
    if (colour === "thread") {
      const slots = threadSlots(profile, palette);
      return (sample) => slots[thread.data[sample]];
    }
    const all = this.#whole();
    if (colour === "kind") {
      const slots = nodeSlots(profile, colour, palette, { ...all, calls: profile.calls });
      return (sample) => slots[callOf[stack.data[sample]]];
    }
    const { slots } = legendOf(profile, colour, palette, all, all);
    const leaves = profile.calls.functions;
    return (sample) => slots[leaves[callOf[stack.data[sample]]]] ?? OTHERS;
  }

  #laidOut(calls: Calls, totals: Totals, order: SiblingOrder) {
    return flameLayout(calls, totals, childrenOf(calls, totals.total, order, this.#nameRanks()));
  }

  #weigh({ filter, asObjects }: Look): Weights {
    return this.#weights.get(JSON.stringify([filter, asObjects]), () => weigh(this.profile, filter, asObjects));
  }

  #shape({ transforms }: Look): Shape {
    const key = JSON.stringify(transforms);
    const shaper = this.#shapers.get(key, () => new Shaper(this.profile, transforms));
    return this.#shapes.get(key, () => shaper.shape());
  }

  count(look: Look): Counted | CountedGroups {
    const { filter, transforms, group, asObjects } = look;
    const key = JSON.stringify([filter, transforms, group, asObjects]);
    return this.#counted.get(key, () =>
      group
        ? countGroups(this.profile, this.#shape(look), filter, group, asObjects)
        : count(this.#shape(look), this.#weigh(look)),
    );
  }

  /** Where each function of a list stands by its name, and by its library's. Groups have neither. */
  #textRanks(list: Int32Array) {
    const { functions, libraries } = this.profile;
    const names = this.#nameRanks();
    const owners = nameRanks(libraries.map(({ name }) => name));
    return {
      name: list.map((fn) => names[fn]),
      library: list.map((fn) => owners[functions[fn]?.library]),
    };
  }

  /** Of functions and groups, for keys that hold in another recording. */
  #words(group: GroupBy): WordOf {
    const { profile } = this;
    const known = new Map<number, number>();
    return (fn) => {
      let word = known.get(fn);
      if (word === undefined) {
        const one = groupOf(fn);
        word = wordOf(one === null ? functionKey(profile, fn) : groupText(profile, group, one));
        known.set(fn, word);
      }
      return word;
    };
  }

  #nameRanks(): Int32Array {
    const { functions } = this.profile;
    if (this.#ranks.length !== functions.length)
      this.#ranks = nameRanks(functions.map(({ name }) => name));
    return this.#ranks;
  }
}

/** Each box of a band has its thread's colour. */
function bandSlots({ rows, bands, fn }: FlameRows, threads: readonly number[], slots: Uint8Array) {
  const ofBox = new Uint8Array(fn.length);
  threads.forEach((thread, i) => ofBox.fill(slots[thread], rows[bands?.[i] ?? 0]));
  return ofBox;
}

/** What functions that each would fold have themselves. */
function foldedBy(profile: Profile, weights: Pick<Weights, "samples" | "time_ns">): Summary["folded"] {
  const sumOf = (isFolded: (fn: number) => boolean) => {
    const sum = { samples: 0, time_ns: 0 };
    const { functions } = profile.calls;
    for (let node = ROOT + 1; node < weights.samples.length; node++) {
      if (!isFolded(functions[node])) continue;
      sum.samples += weights.samples[node];
      sum.time_ns += weights.time_ns[node];
    }
    return sum;
  };
  return {
    "hide-system": sumOf((fn) => profile.isSystem(fn)),
    "only-mine": sumOf((fn) => !profile.isMine(fn)),
    "fold-runtime": sumOf((fn) => profile.isOfRuntime(fn)),
  };
}

function weightOf(counted: Counted, unit: Unit = "samples") {
  return unit === "samples" ? counted.samples : counted.time_ns;
}
