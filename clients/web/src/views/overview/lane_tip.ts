// What stands beside the pointer over the curve or a lane.
import type { Lane } from "../../data/layouts/lanes";
import type { LaneInTime, Overview } from "../../data/layouts/overview";
import { data, nameOf, processName } from "../../state/live";
import { rateText } from "../parts/cells";
import { duration, grouped, percent } from "../parts/format";
import { stateWord } from "../parts/colours";
import { threadsAtFull } from "./lanes";

export function laneName({ kind, name, pid }: Lane): string {
  if (kind === "tag") return name || "(no tag)";
  return kind === "process" ? processName(pid) : name || "(no name)";
}

/** And which thread it is, or how many. */
export function whoIs(lane: Lane): string {
  const { kind, tids } = lane;
  if (kind === "tag") return `tag ${laneName(lane)}`;
  return `${laneName(lane)} (${kind === "thread" ? tids[0] : `${grouped(tids.length)} threads`})`;
}

export function stepAt(overview: Overview, time_us: number): number {
  const step = Math.floor((time_us - overview.origin_us) / overview.step_us);
  return Math.min(overview.steps - 1, Math.max(0, step));
}

function seconds(overview: Overview, step: number, zero_us: number): string {
  const digits = Math.max(0, Math.ceil(6 - Math.log10(overview.step_us)));
  const at = (overview.origin_us + step * overview.step_us - zero_us) / 1e6;
  return `${at.toFixed(digits)} s`;
}

/** The wait that a step shows: for what, how long, and who had it. */
function waitWords({ waits }: Overview, lane: LaneInTime, step: number): string[] {
  const wait = (lane.waits?.[step] ?? 0) - 1;
  if (!waits || wait < 0) return [];
  const tid = waits.holder[wait];
  const { name = "" } = data.value?.threads.find((one) => one.tid === tid) ?? {};
  const words = [`waited for ${nameOf(waits.lock[wait])}, ${duration(1000 * waits.length_us[wait])}`];
  return tid ? [...words, `held by ${name || "thread"} (${tid})`] : words;
}

/** lane null: all threads together. */
export function laneTip(
  overview: Overview,
  lane: LaneInTime | null,
  step: number,
  zero_us: number,
): string[] {
  const { states, steps, step_us } = overview;
  const time = seconds(overview, step, zero_us);
  if (!lane) {
    const used = overview.full === undefined ? `${overview.cpu[step].toFixed(2)} CPUs in use` : rateText(overview.cpu[step]);
    const samples = Math.round((overview.samples[step] * step_us) / 1e6);
    return [time, used, `${samples} samples`];
  }
  if (overview.full !== undefined) {
    const part = lane.states.subarray(step * states.length, (step + 1) * states.length).reduce((a, b) => a + b, 0);
    const words = [rateText((part * overview.full) / 1e9), `full height: ${rateText(overview.full / 1e9)}`];
    return [whoIs(lane), time, ...waitWords(overview, lane, step), ...words];
  }
  const atFull = threadsAtFull(lane, steps);
  const length = lane.tids.length || atFull;
  const shares = [...states.keys()]
    .map((state) => [state, lane.states[step * states.length + state]])
    .filter(([, threads]) => threads > 0)
    .map(([state, threads]) => `${stateWord(states[state])} ${percent(Math.min(threads, length), length)}`);
  const scale = atFull < length ? [`full height: ${atFull} of ${grouped(length)} threads`] : [];
  return [whoIs(lane), time, ...(shares.length ? shares : ["no samples"]), ...scale];
}
