// Time within seconds: each column is one, each cell a part of it. So short bursts are seen that a curve levels out.
import { type Filter, passes } from "../filter";
import type { Profile } from "../profile";
import type { Shape } from "../shape";
import { cpuLength, eachPart } from "../spread";

export const CELLS = 50; // of a column

const SECOND_US = 1_000_000;
const SHORTER_US = [SECOND_US / 2, SECOND_US / 5]; // where there would be few
const SHORTEST_US = SECOND_US / 10;
const FEW = 20; // columns

export interface HeatMap {
  origin_us: number;
  column_us: number;
  columns: number;
  cells: Float64Array; // [column * CELLS + cell]: ns of CPU time, samples, or weights of another kind
  most: number; // of any cell
}

/** A second; less where few would be seen, and more (2, 5, 10, 20...) where there is no room for so many. */
export function columnFor(extent_us: number, maxColumns: number): number {
  if (extent_us < FEW * SECOND_US)
    return SHORTER_US.find((length) => extent_us >= FEW * length) ?? SHORTEST_US;
  let column = SECOND_US;
  for (const factors = [2, 2.5, 2]; column * maxColumns < extent_us; factors.push(factors.shift()!))
    column *= factors[0];
  return column;
}

/** zero_us: where a column begins; range_us: what is shown. The filter says which samples, but not when. */
export function heatMap(
  profile: Profile,
  { nodeOf }: Shape,
  filter: Filter,
  isTime: boolean,
  zero_us: number,
  range_us: [number, number],
  maxColumns: number,
  asObjects = false,
): HeatMap {
  const column_us = columnFor(range_us[1] - range_us[0], maxColumns);
  const origin_us = zero_us + Math.floor((range_us[0] - zero_us) / column_us) * column_us;
  const columns = Math.max(1, Math.ceil((range_us[1] - origin_us) / column_us));
  const step_us = column_us / CELLS;
  const cells = new Float64Array(columns * CELLS);
  const { stack, time_us, length } = profile.samples;
  const { callOf } = profile;
  const counts = passes(profile, { ...filter, window_us: undefined });
  const isIn = (sample: number) => counts[sample] && nodeOf[callOf[stack.data[sample]]] >= 0;
  if (isTime)
    eachPart(profile, { origin_us, step_us, steps: cells.length }, cpuLength(profile, asObjects), (i, cell, part) => {
      if (isIn(i)) cells[cell] += part * step_us * 1000;
    });
  else
    for (let i = 0; i < length; i++) {
      const cell = Math.ceil((time_us.data[i] - origin_us) / step_us) - 1; // the end of what it stands for
      if (cell >= 0 && cell < cells.length && isIn(i)) cells[cell]++;
    }
  let most = 0;
  for (const value of cells) if (value > most) most = value;
  return { origin_us, column_us, columns, cells, most };
}
