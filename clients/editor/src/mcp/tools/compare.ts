import { z } from "zod";
import { Problem } from "../../core/problem";
import type { FunctionFact } from "../../core/reading";
import { named, percent, type Value } from "../facts/answer";
import { errorOf, errorOfBoth, isClear } from "../facts/chance";
import { KIND, type Look, PART, wholeOf } from "../facts/look";
import { type Asked, look, SOURCE, told, tool } from "../facts/tool";

const ROWS_MOST = 500;

export const compare = tool({
  name: "compare",
  title: "Compare two windows or sessions",
  description:
    "What changed between two parts: functions whose share of the whole became more or less, with error. clear: it is more than chance, " +
    "beyond three standard errors. Before: before_source, or the same source, in before_from_s to before_to_s. After: source in from_s to to_s.",
  input: {
    ...SOURCE,
    before_source: z
      .string()
      .optional()
      .describe("an id out of list_sources, of the profile that is compared with; else it is the same"),
    before_from_s: z.number().optional().describe("seconds after the first sample"),
    before_to_s: z.number().optional().describe("seconds after the first sample"),
    ...KIND,
    ...PART,
    by: z.enum(["self", "total"]).optional().describe("which share is compared (default: self)"),
  },
  async answer(args, context) {
    const { before_source, before_from_s, before_to_s, by = "self", ...asked } = args;
    const isSame = before_source === undefined || before_source === asked.source;
    if (isSame && before_from_s === undefined && before_to_s === undefined)
      throw new Problem("say what is compared: before_source, or before_from_s and before_to_s of the same source");
    const after = await look(asked, context);
    const earlier: Asked = {
      source: before_source ?? asked.source,
      kind: asked.kind,
      from_s: before_from_s,
      to_s: before_to_s,
    };
    const same = isSame ? { process: asked.process, thread: asked.thread } : {}; // another run has other numbers
    const before = await look({ ...earlier, ...same }, context);
    const bySamples = before.reading.unit !== after.reading.unit;
    return {
      facts: {
        ...{
          share: by,
          before: { ...told(before.current), ...wholeOf(before) },
          after: { ...told(after.current), ...wholeOf(after) },
        },
        ...(bySamples && { percent_of: "samples: one of them has no CPU time to compare" }),
      },
      unsure: [...new Set([...before.unsure, ...after.unsure])],
      columns: [
        "function",
        "library",
        "change_points",
        "error",
        "clear",
        "before_percent",
        "after_percent",
        "before_samples",
        "after_samples",
      ],
      rows: rowsOf(sideOf(before, by, bySamples), sideOf(after, by, bySamples)).slice(0, ROWS_MOST),
    };
  },
});

interface Side {
  facts: Map<string, { fact: FunctionFact; share: number; samples: number }>;
  samples: number;
}

function sideOf({ reading, samples }: Look, by: "self" | "total", bySamples: boolean): Side {
  const facts = reading.functions.map((fact) => {
    const count = by === "self" ? fact.selfSamples : fact.totalSamples;
    return [fact.key, { fact, share: bySamples ? count / reading.whole.samples : fact[by], samples: count }] as const;
  });
  return { facts: new Map(facts), samples };
}

function rowsOf(before: Side, after: Side): Value[][] {
  const keys = [...new Set([...after.facts.keys(), ...before.facts.keys()])];
  const changes = keys.map((key) => {
    const [a, b] = [before.facts.get(key), after.facts.get(key)];
    const [was, is] = [a?.share ?? 0, b?.share ?? 0];
    const error = errorOfBoth(errorOf(was, before.samples), errorOf(is, after.samples));
    return { key, fact: (b ?? a)!.fact, was, is, change: is - was, error, samples: [a?.samples ?? 0, b?.samples ?? 0] };
  });
  return changes
    .filter(({ was, is }) => was > 0 || is > 0)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || (a.key < b.key ? -1 : 1))
    .map(({ fact, was, is, change, error, samples }) => [
      ...[named(fact.name), named(fact.library), percent(change), percent(error), isClear(change, error)],
      ...[percent(was), percent(is), ...samples],
    ]);
}
