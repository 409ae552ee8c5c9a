// The time of an event, selected in all views.
import { select, selection } from "../../state/selection";

/** start_us to so many ns behind it, and at least a microsecond. tid: only its thread's samples. */
export function selectWindow(start_us: number, ns: number, tid?: number): void {
  const from = Math.floor(start_us);
  const window_us: [number, number] = [from, Math.max(from + 1, Math.ceil(start_us + ns / 1000))];
  const { processes: _, ...filter } = selection.value.filter;
  if (tid === undefined) select({ filter: { ...selection.value.filter, window_us } });
  else select({ filter: { ...filter, window_us, threads: [tid] } });
}
