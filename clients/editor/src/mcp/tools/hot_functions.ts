import { z } from "zod";
import { named, percent } from "../facts/answer";
import { errorOf } from "../facts/chance";
import { amount, amountName, wholeOf } from "../facts/look";
import { look, OF_SAMPLES, told, tool } from "../facts/tool";

const ROWS_MOST = 1000;

export const hotFunctions = tool({
  name: "hot_functions",
  title: "Hot functions",
  description:
    "Functions with their shares: self (what the function itself does) and total (with what it calls), each with error and " +
    "sample count. Sorted by self, or by total.",
  input: {
    ...OF_SAMPLES,
    by: z.enum(["self", "total"]).optional().describe("what is sorted by (default: self)"),
    library: z.string().optional().describe("only functions of this library or program"),
  },
  async answer(args, context) {
    const seen = await look(args, context);
    const { reading, kind, samples } = seen;
    const by = args.by ?? "self";
    const those = reading.functions.filter(({ library }) => args.library === undefined || library === args.library);
    const sorted = [...those].sort((a, b) => b[by] - a[by]); // equal ones stay as they were: by total, by name
    return {
      facts: { ...told(seen.current), ...wholeOf(seen), functions: those.length },
      unsure: seen.unsure,
      columns: [
        ...["function", "library", "file", "line", "self_percent", "self_error", "total_percent", "total_error"],
        ...["self_samples", "total_samples", `self_${amountName(kind)}`],
      ],
      rows: sorted
        .slice(0, ROWS_MOST)
        .map((one) => [
          ...[
            named(one.name),
            named(one.library),
            named(one.file),
            one.line,
            percent(one.self),
            percent(errorOf(one.self, samples)),
          ],
          ...[percent(one.total), percent(errorOf(one.total, samples)), one.selfSamples, one.totalSamples],
          amount(kind, one.self_ns),
        ]),
    };
  },
});
