// Cells that tables have in common.
import { legend, slotOf } from "../../state/colouring";
import { asObjects, byUnit, kindShown, libraryOf, nameOf } from "../../state/live";
import { shortName } from "../../data/short_name";
import { fill } from "./colours";
import { duration, grouped, percent, size } from "./format";

/** A share with a bar behind it; nothing for nothing. samples: how many it is told from. */
export function Share({ part, whole, samples }: { part: number; whole: number; samples: number }) {
  return (
    <span class="share">
      <i class="bar" style={{ width: `${(100 * part) / (whole || 1)}%` }} />
      {part > 0 ? percent(part, whole, samples) : ""}
    </span>
  );
}

const WRITTEN = { ns: duration, bytes: size, count: grouped };

/** What samples stand for, in the unit of their kind. */
export const sumText = (weight: number) => WRITTEN[kindShown.value.unit](weight);

/** A weight as text. isAlone: what it is of is not told beside it. */
export function weightText(weight: number, isAlone = false): string {
  const [weights, objects] = kindShown.value.units;
  const counted = (what: string) => grouped(weight) + (isAlone ? ` ${what}` : "");
  if (asObjects.value) return counted(objects);
  return byUnit(counted(objects), kindShown.value.unit === "count" ? counted(weights) : sumText(weight));
}

/** Of steps of time: what is 1 stands for a billion a second, as one processor does. */
export const rateText = (value: number) => `${sumText(1e9 * value)}/s`;

/** What stands beside a number of samples: CPU time, or what else they stand for. */
export const timeText = (weight: number) => byUnit(sumText, weightText)(weight);

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
