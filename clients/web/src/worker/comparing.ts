// Two sides to compare: two windows of one profile, or a file and what is shown.
import { compare, type Comparison } from "../data/compare";
import { functionKey } from "../data/shape";
import type { Side } from "../data/diff";
import type { Answers } from "./answers";
import type { Before, Look, Unit } from "./messages";

function sideOf(answers: Answers, look: Look, unit: Unit): Side {
  const { profile } = answers;
  const counted = answers.count({ ...look, group: "" });
  return {
    calls: counted.calls,
    totals: unit === "samples" ? counted.samples : counted.time_ns,
    keyOf: (fn) => functionKey(profile, fn),
  };
}

/** Of the file only what means the same there: neither its times nor its threads do. */
function lookBefore(look: Look, before: Before): Look {
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
  shown: Answers,
  file: Answers | null,
  look: Look,
  before: Before,
  unit: Unit,
): Comparison | null {
  const other = before.kind === "file" ? file : before.window_us && shown;
  if (!other) return null;
  return compare(sideOf(other, lookBefore(look, before), unit), sideOf(shown, look, unit));
}
