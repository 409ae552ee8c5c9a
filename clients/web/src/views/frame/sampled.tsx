// In the status line: how much of all CPU time is in samples, and which programs are in none.
import { computed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { backend, files, info, newest } from "../../state/live";
import { duration, grouped, percent } from "../parts/format";

/** What is told of what is in no sample: of the session that is opened, or by the service. */
const sampling = computed(() => {
  const { shown } = files.value;
  return shown ? shown.session : info.value;
});

/** [what, CPU time]. What is elsewhere is known when the program has ended. */
export function cpuTimes(told: NonNullable<typeof info.value>["cpuTime"]): [string, string][] {
  const { sampledMicros, notSampledMicros, withoutSamplerMicros } = told;
  const rows: [string, number | undefined][] = [
    ["In samples", sampledMicros],
    ["Not sampled, of sampled processes", notSampledMicros],
    ["Of processes that ended before their first sample or have no sampler", withoutSamplerMicros],
  ];
  const all = rows.reduce((sum, [, micros = 0]) => sum + micros, 0);
  return rows.map(([what, micros]) => [
    what,
    micros === undefined
      ? "known when the program has ended"
      : `${duration(1000 * micros)}, ${percent(micros, all)}`,
  ]);
}

export function CpuTime() {
  const [open, setOpen] = useState(false);
  const version = newest.value?.version;
  useEffect(() => {
    if (open) backend().say({ say: "readInfo" });
  }, [open, version]);
  const told = sampling.value;
  if (!told) return null;
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>CPU time</summary>
      <dl>
        {cpuTimes(told.cpuTime).map(([what, time]) => (
          <>
            <dt>{what}</dt>
            <dd>{time}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}

export function Unsampled() {
  const programs = sampling.value?.unsampled ?? [];
  const count = programs.reduce((sum, one) => sum + one.count, 0);
  if (!count) return null;
  return (
    <span class="warn">
      {grouped(count)} {count === 1 ? "process" : "processes"} not sampled{" "}
      <details class="why">
        <summary>why?</summary>
        <dl>
          {programs.map(({ exe, pid, count, reason }) => (
            <>
              <dt dir="auto">
                {exe} ({pid}){count > 1 && `, started ${grouped(count)} times`}
              </dt>
              <dd>{reason}</dd>
            </>
          ))}
        </dl>
      </details>
    </span>
  );
}
