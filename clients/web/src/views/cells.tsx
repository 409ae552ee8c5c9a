// Cells that tables have in common.
import { libraryOf, nameOf } from "../state/live";
import type { Unit } from "../worker/messages";
import { fill, isDark } from "./colours";
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

/** A weight as text. */
export function weightText(weight: number, unit: Unit): string {
  return unit === "samples" ? grouped(weight) : duration(weight);
}

export function Weight({ weight, unit }: { weight: number; unit: Unit }) {
  return <span class="number">{weight > 0 ? weightText(weight, unit) : ""}</span>;
}

interface FunctionNameProps {
  fn: number;
  note?: string; // before the library
  bare?: boolean; // without the library
}

export function FunctionName({ fn, note = "", bare }: FunctionNameProps) {
  const { name, system } = libraryOf(fn);
  return (
    <>
      <i class="swatch" style={{ background: fill(name, system, 1) }} data-dark={isDark.value} />
      <bdi>{nameOf(fn)}</bdi>
      {!bare && (
        <bdi class="faint">
          {note}
          {name}
        </bdi>
      )}
    </>
  );
}
