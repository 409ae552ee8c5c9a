// Two sides to compare: two windows of one profile, or a file and what is shown.
import { compare } from "../data/layouts/compare";
import { functionKey } from "../data/shape";
import type { Side } from "../data/layouts/diff";
import type { Profile } from "../data/profile";
import { cpuUse, extent, type Steps } from "../data/spread";
import type { Counted } from "../data/totals";
import type { Before, Compared, Look } from "./messages";

/** A profile that can be counted. */
interface Counting {
  readonly profile: Profile;
  count(look: Look): Counted;
}

function sideOf(counting: Counting, look: Look, isTime: boolean): Side {
  const { profile } = counting;
  const counted = counting.count({ ...look, group: "" });
  return {
    calls: counted.calls,
    totals: isTime ? counted.time_ns : counted.samples,
    keyOf: (fn) => functionKey(profile, fn),
  };
}

/** Of the file only what means the same there: neither its times nor its threads do. */
function lookBefore(look: Look, before: Before, { kind }: Profile): Look {
  if (kind !== "time" && before.kind === "file") return look; // kept of the same service, and without times
  if (before.kind !== "file")
    return { ...look, filter: { ...look.filter, window_us: before.window_us } };
  const { tags, states, libraries } = look.filter;
  const filter = {
    ...(tags && { tags }),
    ...(states && { states }),
    ...(libraries && { libraries }),
  };
  return { ...look, filter };
}

/** null: there is nothing to compare with. */
export function comparison(
  shown: Counting,
  file: Counting | null,
  look: Look,
  before: Before,
): Compared | null {
  const other = before.kind === "file" ? file : before.window_us && shown;
  if (!other) return null;
  // A file of plain counts has no time to compare.
  const isTime = look.unit === "time" && other.profile.unit() === shown.profile.unit();
  const sides = [sideOf(other, lookBefore(look, before, shown.profile), isTime), sideOf(shown, look, isTime)] as const;
  return { ...compare(...sides), isTime };
}

/** Processors in use in a file, as if it had begun when what is shown did. null: one has no samples. */
export function cpuFromStart(file: Profile, steps: Steps, shown: Profile): Float64Array | null {
  const [own, its] = [extent(shown), extent(file)];
  return own && its && cpuUse(file, { ...steps, origin_us: steps.origin_us - own[0] + its[0] });
}
