// Why there is nothing to see, and what to do.
import type { ComponentChildren } from "preact";
import type { Command } from "../wire/service";
import { backend, data, held, hold, info, link } from "../state/live";
import { select, selection, START } from "../state/selection";

const run = (command: Command) => backend().say({ say: "command", command });

/** The act that helps, where there is one. */
function Said({ children, act }: { children: ComponentChildren; act?: [string, () => void] }) {
  return (
    <p class="empty" role="status">
      {children} {act && <button onClick={act[1]}>{act[0]}</button>}
    </p>
  );
}

function NothingSelected() {
  const { filter, transforms } = selection.value;
  const { window_us, ...others } = filter;
  const focused = transforms.some(({ kind }) => kind !== "hide-system");
  const all = () => select({ filter: START.filter, transforms: START.transforms, zoom: [] });
  if (window_us && !Object.keys(others).length && !focused && info.value?.mode === "cpu")
    return (
      <Said act={["Show all time", all]}>
        No samples in this window: the program used no CPU then. In wall mode, threads that wait are
        sampled too.
      </Said>
    );
  return (
    <Said act={["Show all", all]}>
      No samples in this selection: of{" "}
      {[
        window_us && "its time",
        Object.keys(others).length > 0 && "its filters",
        focused && "its focus",
      ]
        .filter(Boolean)
        .join(", ") || "what is shown"}{" "}
      there are none.
    </Said>
  );
}

export function Empty() {
  const service = info.value;
  const { filter, transforms } = selection.value;
  const narrowed =
    Object.keys(filter).length > 0 || transforms.some(({ kind }) => kind !== "hide-system");
  if (link.value.state === "refused") return <Said>The service refuses: {link.value.reason}</Said>;
  if (data.value?.samples && narrowed) return <NothingSelected />;
  if (held.value)
    return (
      <Said act={["Go live", () => hold(false)]}>There were no samples when this was held.</Said>
    );
  if (!service) return <Said>Waiting for the service…</Said>;
  if (!service.processes.some(({ live }) => live)) {
    const why = service.profiler
      ? "and used too little CPU to be sampled"
      : "with the profiler off";
    return <Said>The program has ended, {why}.</Said>;
  }
  if (!service.profiler)
    return (
      <Said act={["Turn it on", () => run({ set: "profiler", on: true })]}>
        The profiler is off.
      </Said>
    );
  if (service.mode === "cpu")
    return (
      <Said act={["Try wall mode", () => run({ set: "mode", mode: "wall" })]}>
        No samples yet: the program has used no CPU.
      </Said>
    );
  return <Said>No samples yet.</Said>;
}
