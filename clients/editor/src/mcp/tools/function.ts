import { z } from "zod";
import type { NeighbourFact } from "../../core/reading";
import { named, percent, type Value } from "../facts/answer";
import { errorOf } from "../facts/chance";
import { functionOf } from "../facts/functions";
import { wholeOf } from "../facts/look";
import { look, OF_SAMPLES, told, tool } from "../facts/tool";

const STACK_MOST = 16;

export const functionTool = tool({
  name: "function",
  title: "A function's callers and callees",
  description:
    "One function: its shares, who calls it and whom it calls, each with share, error and sample count, and the heaviest way to it.",
  input: {
    ...OF_SAMPLES,
    function: z.string().min(1).describe("its name as another answer has it, or a part that no other function's has"),
    library: z.string().optional().describe("where several libraries have a function of this name"),
  },
  async answer(args, context) {
    const seen = await look(args, context);
    const { reading, samples } = seen;
    const one = functionOf(reading, args.function, args.library);
    const { callers, callees } = reading.neighbours(one.fn);
    const row =
      (relation: string) =>
      (fact: NeighbourFact): Value[] => [
        ...[
          relation,
          named(fact.name || "(thread start)"),
          percent(fact.share),
          percent(errorOf(fact.share, samples)),
          fact.samples,
        ],
      ];
    return {
      facts: {
        ...told(seen.current),
        ...wholeOf(seen),
        function: named(one.name),
        library: named(one.library),
        file: named(one.file),
        line: one.line,
        self_percent: percent(one.self),
        self_error: percent(errorOf(one.self, samples)),
        self_samples: one.selfSamples,
        total_percent: percent(one.total),
        total_error: percent(errorOf(one.total, samples)),
        total_samples: one.totalSamples,
        heaviest_way: reading
          .hottestStack(one.fn)
          .slice(-STACK_MOST)
          .map((name) => named(name, 100)),
      },
      unsure: seen.unsure,
      columns: ["relation", "function", "percent", "error", "samples"],
      rows: [...callers.map(row("caller")), ...callees.map(row("callee"))],
    };
  },
});
