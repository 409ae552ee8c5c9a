import { z } from "zod";
import type { LoopStats, Stall, StallPlace } from "../../../../web/src/wire/protocol";
import { named, rounded, seconds, type Value } from "../facts/answer";
import { timesOf } from "../facts/look";
import { type Opened, opened, SOURCE, told, tool } from "../facts/tool";

const LOOPS_MOST = 10;

export const stalls = tool({
  name: "stalls",
  title: "Stalls of event loops, with culprits",
  description:
    "Event loops that were late: when, for how long (a range: at least and at most), why, and which function did it. The longest first.",
  input: {
    ...SOURCE,
    cause: z
      .string()
      .optional()
      .describe("only stalls of this cause: busy, lock, io, sleep, child, page-fault, starved, host, ..."),
  },
  async answer(args, context) {
    const current = await opened(args.source, context);
    const all = stallsOf(current).filter(({ cause }) => args.cause === undefined || cause === args.cause);
    const { samples } = current.profile.answers.profile;
    const first_us = samples.length ? timesOf(current.profile.answers.profile)[0] : 0;
    return {
      facts: {
        ...told(current),
        stalls: all.length,
        ...(await loopsOf(current)),
        at_s: "seconds after the first sample",
        error: "durations are ranges",
      },
      unsure: current.unsure,
      columns: [
        "number",
        "at_s",
        "loop",
        "thread",
        "level",
        "at_least_ms",
        "at_most_ms",
        "cause",
        "cause_text",
        "culprit",
        "called_by",
        "looks",
        "equal_ones",
      ],
      rows: all
        .sort((a, b) => b.durationMicros[0] - a.durationMicros[0] || a.number - b.number)
        .map((one) => row(one, first_us)),
    };
  },
});

function stallsOf({ profile }: Opened): Stall[] {
  const briefs = profile.stalls.rows({ by: "number", ascending: true }, null);
  return briefs.map(({ number }) => profile.stalls.one(number)!);
}

function row(one: Stall, first_us: number): Value[] {
  const [least, most] = one.durationMicros;
  return [
    ...[one.number, seconds(one.startMicros[0] - first_us), named(one.name), named(one.thread), one.level],
    ...[rounded(least / 1000, 1), rounded(most / 1000, 1), one.cause, named(one.causeText)],
    ...[placeOf(one.culprit), placeOf(one.caller), one.looks, one.equals],
  ];
}

/** With file and line, where they are known. */
function placeOf(place?: StallPlace): string | null {
  if (!place?.function) return null;
  const at = place.file ? ` at ${place.file}${place.line ? `:${place.line}` : ""}` : "";
  return named(`${place.function} (${place.library})${at}`);
}

async function loopsOf({ profile }: Opened): Promise<Record<string, Value>> {
  if (profile.link.state !== "open") return {};
  const stats: LoopStats | { type: "Sentinel" } = await profile.rpc.call("_getLoopStats", {});
  if (stats.type === "Sentinel") return {};
  const watched = stats.loops.filter((one) => one.watched);
  return {
    stall_limit_ms: stats.limits.stall,
    loops: watched.slice(0, LOOPS_MOST).map((one) => ({
      ...{ name: named(one.name), dispatches: one.dispatches },
      longest_at_most_ms: rounded((one.dispatch.max[1] ?? 0) / 1000, 1),
    })),
  };
}
