import { z } from "zod";
import { ROOT } from "../../../../web/src/data/call_tree";
import type { Reading } from "../../core/reading";
import { named, percent, type Value } from "../facts/answer";
import { errorOf } from "../facts/chance";
import { wholeOf } from "../facts/look";
import { look, OF_SAMPLES, told, tool } from "../facts/tool";

const ROWS_MOST = 500;
const DEPTH = 12;
const NAME_MOST = 100;

export const hotPaths = tool({
  name: "hot_paths",
  title: "Hot paths",
  description:
    "Whole call paths, the heaviest first: each with the share of samples that ended exactly there. Paths are outermost " +
    'function first; of long ones the last functions are told, behind "...".',
  input: {
    ...OF_SAMPLES,
    depth: z.number().int().min(1).max(64).optional().describe(`how many functions of a path are told (default: ${DEPTH})`),
  },
  async answer(args, context) {
    const seen = await look(args, context);
    const { reading, samples } = seen;
    const paths = pathsOf(reading);
    return {
      facts: { ...told(seen.current), ...wholeOf(seen), paths: paths.length },
      unsure: seen.unsure,
      columns: ["percent", "error", "samples", "path"],
      rows: paths
        .slice(0, ROWS_MOST)
        .map(({ node, share, count }) => [
          percent(share),
          percent(errorOf(share, samples)),
          count,
          pathOf(reading, node, args.depth ?? DEPTH),
        ]),
    };
  },
});

interface Path {
  node: number;
  share: number;
  count: number;
}

function pathsOf({ counted, unit, whole }: Reading): Path[] {
  const { samples, time_ns } = counted;
  const [weights, all] = unit === "time" ? [time_ns.self, whole.time_ns] : [samples.self, whole.samples];
  const paths: Path[] = [];
  for (let node = ROOT + 1; node < weights.length; node++)
    if (samples.self[node] > 0) paths.push({ node, share: weights[node] / (all || 1), count: samples.self[node] });
  return paths.sort((a, b) => b.share - a.share || b.count - a.count || a.node - b.node);
}

function pathOf({ counted, answers }: Reading, node: number, depth: number): Value[] {
  const { parents, functions } = counted.calls;
  const names: string[] = [];
  let at = node;
  for (; at > ROOT && names.length < depth; at = parents[at])
    names.push(named(answers.profile.functions[functions[at]].name, NAME_MOST));
  return [...(at > ROOT ? ["..."] : []), ...names.reverse()];
}
