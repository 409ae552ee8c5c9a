// Cells that tables have in common.
import { legend, slotOf } from "../../state/colouring";
import { byUnit, libraryOf, nameOf } from "../../state/live";
import { shortName } from "../../data/short_name";
import { fill } from "./colours";
import { duration, grouped, percent } from "./format";

/** A share with a bar behind it; nothing for nothing. samples: how many it is told from. */
export function Share({ part, whole, samples }: { part: number; whole: number; samples: number }) {
  return (
    <span class="share">
      <i class="bar" style={{ width: `${(100 * part) / (whole || 1)}%` }} />
      {part > 0 ? percent(part, whole, samples) : ""}
    </span>
  );
}

/** A weight as text. what: what it is of, where that is not told beside it. */
export function weightText(weight: number, what = ""): string {
  return byUnit(grouped(weight) + what, duration(weight));
}

export function Weight({ weight }: { weight: number }) {
  return <span class="number">{weight > 0 ? weightText(weight) : ""}</span>;
}

interface FunctionNameProps {
  fn: number;
  inlined?: number; // 1: it is
  bare?: boolean; // without the library
  room?: number; // pixels
}

const LETTER_PX = 7; // on average
const LEAST = 12; // letters: with less room the cell is cut

export function FunctionName({ fn, inlined = 0, bare, room = Infinity }: FunctionNameProps) {
  const name = nameOf(fn);
  const library = libraryOf(fn).name;
  const by = legend.value?.by ?? "library";
  return (
    <>
      <i class="swatch" style={{ background: fill(slotOf(fn, inlined), by) }} />
      <bdi title={name}>{shortName(name, Math.max(LEAST, Math.floor(room / LETTER_PX)))}</bdi>
      {!bare && (
        <bdi class="faint">
          {inlined ? "inlined · " : ""}
          {library}
        </bdi>
      )}
    </>
  );
}
