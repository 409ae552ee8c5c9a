// What is compared with, in the overview: a range of the time is marked; of a file it is the CPU curve, from the same start.
import type { Overview } from "../../data/layouts/overview";
import { useAnswer } from "../../state/answer";
import { files } from "../../state/live";
import { selection } from "../../state/selection";
import { ink } from "../parts/colours";
import { type TimeView, xOf } from "../time/time_axis";

/** Processors in use in the file, by step; null: no file, or one that tells no times. */
export function useBaseline({ origin_us, step_us, steps }: Overview): Float64Array | null {
  const { compared } = files.value;
  const isDrawn = selection.value.before.kind === "file" && compared && !compared.timeless;
  const used = useAnswer("baseline", isDrawn ? { origin_us, step_us, steps } : null);
  return isDrawn && used && used.length === steps ? used : null;
}

export function BaselineMark({ view, height }: { view: TimeView; height: number }) {
  const { kind, window_us } = selection.value.before;
  if (kind !== "window" || !window_us) return null;
  const end = view.left + view.width;
  const [from, to] = window_us.map((at) => Math.min(end, Math.max(view.left, xOf(view, at))));
  if (from >= to) return null; // it lies outside
  const style = `left: ${from}px; width: ${to - from}px; height: ${height}px; color: ${ink.value.before}`;
  return <i class="baseline" style={style} />;
}

/** What the mark and the line are. */
export function BaselineWord() {
  const { before } = selection.value;
  const { compared } = files.value;
  const isFile = before.kind === "file" && compared && !compared.timeless;
  if (!isFile && !before.window_us) return null;
  return (
    <span>
      <i class="swatch" style={{ background: ink.value.before }} /> baseline
    </span>
  );
}
