import { kindsSampled } from "../../../../web/src/data/kinds";
import { named, percent, seconds, type Value } from "../facts/answer";
import { errorOf } from "../facts/chance";
import { lookAt, timesOf, wholeOf } from "../facts/look";
import { lossesOf } from "../facts/losses";
import { type Opened, opened, SOURCE, told, tool } from "../facts/tool";

const PROCESSES_MOST = 10;
const ROWS = 10;
const LOST_LEAST = 0.05; // of the samples

export const summary = tool({
  name: "summary",
  title: "Summary of a profile",
  description:
    "What was profiled: processes, how they were sampled, how much CPU time, which kinds of samples and how many stalls there are, and " +
    "the functions with the largest shares of their own. Begin with it.",
  input: SOURCE,
  async answer({ source }, context) {
    const current = await opened(source, context);
    const seen = await lookAt(current, {});
    const { reading, samples } = seen;
    const [first, last] = timesOf(seen.profile);
    const lost = await lossesOf(current.profile);
    const lostInAll = Object.values(lost).reduce((sum, count) => sum + count, 0);
    const hot = reading.functions
      .filter(({ self }) => self > 0)
      .sort((a, b) => b.self - a.self)
      .slice(0, ROWS);
    return {
      facts: {
        ...told(current),
        ...processesOf(current),
        ...wholeOf(seen),
        span_s: seconds(last - first),
        processors_used: Math.round((100 * reading.whole.time_ns) / 1000 / (last - first || 1)) / 100,
        threads: seen.profile.threads.length,
        kinds: ["time", ...kindsSampled(current.profile.info?.flags ?? {}).filter((kind) => kind !== "time")],
        stalls: current.profile.stalls.length,
        ...(lostInAll > 0 && { lost }),
      },
      unsure: [
        ...seen.unsure,
        ...(lostInAll >= LOST_LEAST * reading.whole.samples
          ? [`${lostInAll} samples were lost, by cause in lost: what was then is missing`]
          : []),
      ],
      columns: ["function", "library", "self_percent", "self_error", "self_samples"],
      rows: hot.map(({ name, library, self, selfSamples }) => [
        named(name),
        named(library),
        percent(self),
        percent(errorOf(self, samples)),
        selfSamples,
      ]),
    };
  },
});

function processesOf({ profile: { info }, source }: Opened): Record<string, Value> {
  if (!info) return { kind_of_source: source.kind };
  const processes = info.processes.slice(0, PROCESSES_MOST).map(({ pid, name, live }) => ({ pid, name: named(name), live }));
  return {
    ...{
      kind_of_source: source.kind,
      processes,
      processes_in_all: info.processes.length,
      mode: info.mode,
      period_us: info.truePeriod_us || info.period_us,
    },
    ...(info.unsampled.length && {
      not_sampled: info.unsampled.slice(0, PROCESSES_MOST).map(({ exe, reason }) => `${named(exe)}: ${named(reason)}`),
    }),
  };
}
