import { ROOT } from "../../../../web/src/data/call_tree";
import { type Filter, passing } from "../../../../web/src/data/filter";
import type { Profile } from "../../../../web/src/data/profile";
import { named, type Value } from "../facts/answer";
import { amountError, varianceOf } from "../facts/chance";
import { lookAt, PART, timesOf } from "../facts/look";
import { opened, SOURCE, told, tool } from "../facts/tool";

const PARTS = 4; // of the program's time
const ROWS_MOST = 500;
const WAY = 6;
// What a header leaves in everybody's own code: a container's method, an allocator's.
const OF_HEADERS = /^(?:operator new|operator delete|(?:std|__gnu_cxx|boost|absl|core|alloc)::|(?:void|[\w:<>, ]+\*) std::)/;

export const allocations = tool({
  name: "allocations",
  title: "Allocations and what grows",
  description:
    "Bytes by the program's own function that allocates: all that was allocated, what is still live, and of that how much is from each " +
    "quarter of the time. Live bytes in every quarter grow; in the first only, they are a cache; in the last only, they are in use. Needs `isoscope run --alloc`.",
  input: { ...SOURCE, ...PART },
  async answer(args, context) {
    const current = await opened(args.source, context);
    const all = await lookAt(current, args, "alloc");
    const sites = new Map<string, Site>();
    const [first, last] = timesOf(all.profile);
    addTo(sites, all.profile, all.reading.filter, "allocated", () => 0);
    const { profile: live } = await current.profile.ofKind("live");
    const partOf = (time: number) =>
      Math.max(0, Math.min(PARTS - 1, Math.floor(((time - first) / (last - first || 1)) * PARTS)));
    addTo(sites, live, live.samples.length ? all.reading.filter : {}, "live", partOf);
    const rows = [...sites.values()].sort(
      (a, b) => b.live.bytes - a.live.bytes || b.allocated.bytes - a.allocated.bytes || (a.key < b.key ? -1 : 1),
    );
    return {
      facts: {
        ...told(current),
        allocated_bytes: Math.round(all.reading.whole.time_ns),
        live_bytes: Math.round(rows.reduce((sum, one) => sum + one.live.bytes, 0)),
        allocated_samples: all.reading.whole.samples,
        span_s: Math.round((last - first) / 1000) / 1000,
        error: "half of the 95 % range, in bytes",
      },
      unsure: all.unsure,
      columns: [
        ...["function", "library", "live_bytes", "live_error", "live_objects", "live_samples", "live_bytes_by_quarter"],
        ...["allocated_bytes", "allocated_error", "allocated_samples", "path"],
      ],
      rows: rows.slice(0, ROWS_MOST).map(rowOf),
    };
  },
});

interface Sum {
  bytes: number;
  objects: number;
  samples: number;
  variance: number;
  parts: number[];
}
interface Site {
  key: string;
  name: string;
  library: string;
  allocated: Sum;
  live: Sum;
  path: string[];
  heaviest: number;
}

const nothing = (): Sum => ({ bytes: 0, objects: 0, samples: 0, variance: 0, parts: new Array<number>(PARTS).fill(0) });

/** Of one kind of samples. The way told is that of the heaviest sample. */
function addTo(
  sites: Map<string, Site>,
  profile: Profile,
  filter: Filter,
  kind: "allocated" | "live",
  partOf: (time: number) => number,
): void {
  const { stack, cpu_ns: weights, objects, time_us } = profile.samples;
  passing(profile, filter, (i) => {
    const node = ownNode(profile, profile.callOf[stack.data[i]]);
    const { name, library } = profile.functions[profile.calls.functions[node]] ?? { name: "(unknown)", library: -1 };
    const libraryName = profile.libraries[library]?.name ?? "";
    const key = `${libraryName}!${name}`;
    let site = sites.get(key);
    if (!site)
      sites.set(
        key,
        (site = { key, name, library: libraryName, allocated: nothing(), live: nothing(), path: [], heaviest: -1 }),
      );
    const [bytes, many] = [weights.data[i], objects.data[i]];
    const sum = site[kind];
    sum.bytes += bytes;
    sum.objects += many;
    sum.samples++;
    sum.variance += varianceOf(bytes, many);
    sum.parts[partOf(time_us.data[i])] += bytes;
    if (bytes <= site.heaviest) return;
    site.heaviest = bytes;
    site.path = wayTo(profile, node);
  });
}

/** The nearest of the program's own functions; where nothing is its own, the leaf. */
function ownNode(profile: Profile, leaf: number): number {
  const { parents, functions } = profile.calls;
  let own = ROOT;
  for (let node = leaf; node > ROOT; node = parents[node]) {
    const { name, library } = profile.functions[functions[node]];
    if (profile.libraries[library]?.system) continue;
    if (!OF_HEADERS.test(name)) return node;
    own ||= node;
  }
  return own || leaf;
}

function wayTo({ calls: { parents, functions }, functions: all }: Profile, node: number): string[] {
  const names: string[] = [];
  for (; node > ROOT && names.length < WAY; node = parents[node]) names.push(named(all[functions[node]].name, 80));
  return names.reverse();
}

function rowOf({ name, library, live, allocated, path }: Site): Value[] {
  const whole = Math.round;
  return [
    ...[named(name), named(library), whole(live.bytes), whole(amountError(live.variance)), whole(live.objects), live.samples],
    live.parts.map(whole),
    ...[whole(allocated.bytes), whole(amountError(allocated.variance)), allocated.samples],
    path,
  ];
}
