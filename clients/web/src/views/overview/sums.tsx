// How much is selected, in words.
import { useAnswer } from "../../state/answer";
import { data, isTime, kindShown, look } from "../../state/live";
import { selection } from "../../state/selection";
import { sumText } from "../parts/cells";
import { grouped, percent } from "../parts/format";

export function Sums() {
  const { transforms } = selection.value;
  const missed_ns = data.value?.missed_ns ?? 0;
  const { unit: _, asObjects: __, ...any } = look.value;
  const summary = useAnswer("summary", { ...any, transforms, group: "" });
  if (!summary) return null;
  const { count, cpu_ns, objects, variance, cut } = summary;
  const { noun, unit, units } = kindShown.value;
  return (
    <>
      <span>{grouped(count)} samples</span>
      <span>
        {sumText(cpu_ns)} {noun}
        {!isTime.value && count > 0 && (
          <i class="faint" title="One standard error of the sum: what was sampled for sure adds none">
            {" "}
            ± {((100 * Math.sqrt(variance)) / cpu_ns).toFixed(1)} %
          </i>
        )}
      </span>
      {!isTime.value && unit !== "count" && (
        <span>
          about {grouped(objects)} {units[1]}
        </span>
      )}
      {missed_ns > 1e6 && <span>{sumText(missed_ns)} not sampled</span>}
      <span
        class={cut > 0.01 * count ? "warn" : ""}
        title={`${grouped(cut)} stacks are truncated: deeper than --depth, or through code without unwind data`}
      >
        {percent(count - cut, count)} complete
      </span>
    </>
  );
}
