// What the status bar, the trees and the hovers of the gutter say.
import type { FunctionRow, LineRow, Overview, StallRow } from "../../../editor/src/lsp/own_messages";

export const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

const many = (count: number, what: string) => `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;

/** For the status bar. null: the server has said nothing yet. */
export function statusWords(overview: Overview | null): string {
  if (!overview?.status.source) return "$(flame) isoscope";
  const { status, isLive, cpu } = overview;
  const icon = status.problems.length ? "$(warning)" : "$(flame)";
  const now = cpu === null ? (isLive ? "" : " ended") : ` ${Math.round(100 * cpu)}% CPU`;
  return `${icon}${now} · ${many(status.samples, "sample")}`;
}

/** Lines of its tooltip, as plain text. */
export function statusLines(overview: Overview | null): string[] {
  if (!overview) return ["isoscope: the server is starting"];
  const { text, comparedWith, source } = overview.status;
  const compared = comparedWith ? [`compared with ${comparedWith}`] : [];
  return [text, ...compared, source ? "Click: what can be done" : "Click: run a program or attach to a service"];
}

/** Beside a function's name. */
export function functionWords({ self, total, trend, place }: FunctionRow): string {
  const words = [percent(self), ...(total > self ? [`total ${percent(total)}`] : []), ...(trend ? [trend] : [])];
  return [...words, ...(place?.isStale ? ["stale"] : [])].join(" · ");
}

export function functionTooltip({ name, library, self, total, samples, place }: FunctionRow): string {
  const where = place ? "" : "\nits source is not here";
  return `${name}\n${library}\nself ${percent(self)}, total ${percent(total)}, ${many(samples, "sample")} with what it calls${where}`;
}

export function stallWords({ cause, culprit, isOngoing }: StallRow): string {
  return [cause, ...(culprit ? [culprit] : []), ...(isOngoing ? ["goes on"] : [])].join(" · ");
}

export function lineTooltip({ self, total, samples }: LineRow): string {
  return `isoscope: self ${percent(self)}, total ${percent(total)}, ${many(samples, "sample")} here or below`;
}
