// Answers questions about one profile. What several questions build on is kept until it changes.
import { activity } from "../data/activity";
import { childrenOf, nameRanks, sortedChildren } from "../data/children";
import { bottomUp, type Row } from "../data/bottom_up";
import { chartLayout } from "../data/chart_layout";
import { facets } from "../data/facets";
import { choose } from "../data/files/chosen";
import { FORMS } from "../data/files/save";
import { type Weights, weigh } from "../data/filter";
import { flameLayout } from "../data/flame_layout";
import { countGroups } from "../data/group";
import { heaviestStack } from "../data/heaviest_stack";
import { linesOf } from "../data/lines";
import { neighbours } from "../data/neighbours";
import { extent, overview } from "../data/overview";
import type { Profile } from "../data/profile";
import { found, shareOf } from "../data/search";
import { type Shape, Shaper } from "../data/shape";
import { orderOf } from "../data/sort";
import { byFunction, type Counted, count } from "../data/totals";
import { byThread } from "../data/thread_totals";
import { treeRows } from "../data/tree_rows";
import { type CallTree, ROOT } from "../data/call_tree";
import { comparison } from "./comparing";
import { Kept } from "./kept";
import type { Kind, Look, Questions, SearchResult, Unit } from "./messages";

/** What is answered from profiles alone. */
export type Computed = Exclude<Kind, "source">;
type Answer<K extends Kind> = Questions[K]["answer"];
type Handlers = {
  [K in Computed]: (args: Questions[K]["args"]) => Answer<K> | Promise<Answer<K>>;
};

// Views ask for one look, comparison for two, and the one before is often the next one.
const LOOKS_KEPT = 3;

export class Answers {
  #shapers = new Kept<Shaper>(LOOKS_KEPT);
  #shapes = new Kept<Shape>(LOOKS_KEPT);
  #weights = new Kept<Weights>(LOOKS_KEPT);
  #counted = new Kept<Counted>(LOOKS_KEPT);
  #ranks: Int32Array = new Int32Array(0);

  /** What it can be compared with. */
  other: Answers | null = null;

  #calls: CallTree; // that the shapers follow

  constructor(readonly profile: Profile) {
    this.#calls = profile.calls;
  }

  /** Samples came: what was counted is void. Shapes go on, but with another tree. */
  changed(): void {
    if (this.#calls !== this.profile.calls) {
      this.#shapers.clear();
      this.#calls = this.profile.calls;
    }
    this.#shapes.clear();
    this.#weights.clear();
    this.#counted.clear();
  }

  async answer<K extends Computed>(kind: K, args: Questions[K]["args"]): Promise<Answer<K>> {
    return this.#handlers[kind](args);
  }

  #handlers: Handlers = {
    summary: (look) => {
      const { count, cpu_ns, cut } = this.#weigh(look);
      return { count, cpu_ns, cut, shown: this.count(look).samples.total[ROOT] };
    },
    overview: ({ range_us, maxSteps, maxLanes, open }) => {
      const range = range_us ?? extent(this.profile);
      return range && overview(this.profile, range, maxSteps, maxLanes, open);
    },
    flame: ({ order, unit, ...look }) => {
      const counted = this.count(look);
      const totals = weightOf(counted, unit);
      const { calls } = counted;
      const children = childrenOf(calls, totals.total, order, this.#nameRanks());
      return flameLayout(calls, totals, children);
    },
    chart: ({ origin_us, extent_us, thin_us, ...look }) => {
      const shape = this.#shape(look);
      const rows = chartLayout(this.profile, shape, look.filter, origin_us, extent_us, thin_us);
      return { ...rows, origin_us };
    },
    tree: ({ sort, unit, ...look }) => {
      const counted = this.count(look);
      const { calls, samples } = counted;
      const weights = weightOf(counted, unit);
      const columns = { ...weights, ...this.#textRanks(calls.functions) };
      const order = orderOf(sort, columns, [weights.total]);
      return { ...treeRows(counted, sortedChildren(calls, samples.total, order)), sort };
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
      return { ...bottomUp(this.count(look), new Set(opened), sorted), sort };
    },
    functions: (look) => {
      const { calls, samples, time_ns } = this.count(look);
      const functionCount = this.profile.functions.length;
      return {
        samples: byFunction(calls, samples, functionCount),
        time_ns: byFunction(calls, time_ns, functionCount),
        whole: { samples: samples.total[ROOT], time_ns: time_ns.total[ROOT] },
      };
    },
    neighbours: ({ fn, ...look }) => neighbours(this.count(look), fn),
    activity: ({ filter, fn, ...steps }) => activity(this.profile, filter, fn, steps),
    threads: ({ filter }) => byThread(this.profile, filter),
    lines: ({ fn, file, filter }) => linesOf(this.profile, filter, fn, file),
    search: ({ search, ...look }) => this.#search(look, search),
    compare: ({ before, unit, ...look }) => comparison(this, this.other, look, before, unit),
    facets: ({ filter }) => facets(this.profile, filter),
    stack: ({ fn, ...look }) => heaviestStack(this.count(look), fn),
    save: ({ filter, form, name }) => FORMS[form].write(choose(this.profile, filter), name),
  };

  #search(look: Look, search: Questions["search"]["args"]["search"]): SearchResult {
    try {
      const hits = found(search, this.profile.functions, this.profile.libraries);
      const counted = this.count(look);
      const { nodes, samples } = shareOf(counted, hits);
      const share = samples / (counted.samples.total[ROOT] || 1);
      const { total } = byFunction(counted.calls, counted.samples, hits.length);
      const order = Int32Array.from(hits.keys())
        .filter((fn) => hits[fn] && total[fn] > 0)
        .sort((a, b) => total[b] - total[a] || a - b);
      return { error: "", hits, order, nodes, share };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return {
        error: error.message,
        hits: new Uint8Array(0),
        order: new Int32Array(0),
        nodes: 0,
        share: 0,
      };
    }
  }

  #weigh({ filter }: Look): Weights {
    return this.#weights.get(JSON.stringify(filter), () => weigh(this.profile, filter));
  }

  #shape({ transforms }: Look): Shape {
    const key = JSON.stringify(transforms);
    const shaper = this.#shapers.get(key, () => new Shaper(this.profile, transforms));
    return this.#shapes.get(key, () => shaper.shape());
  }

  count(look: Look): Counted {
    const { filter, transforms, group } = look;
    const key = JSON.stringify([filter, transforms, group]);
    return this.#counted.get(key, () =>
      group
        ? countGroups(this.profile, this.#shape(look), filter, group)
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

  #nameRanks(): Int32Array {
    const { functions } = this.profile;
    if (this.#ranks.length !== functions.length)
      this.#ranks = nameRanks(functions.map(({ name }) => name));
    return this.#ranks;
  }
}

function weightOf(counted: Counted, unit: Unit) {
  return unit === "samples" ? counted.samples : counted.time_ns;
}
