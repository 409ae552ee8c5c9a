// Why there is nothing to see, and what to do.
import { backend, data, info, link } from "../state/live";
import { select, selection, START } from "../state/selection";

export function Empty() {
  const service = info.value;
  const { filter, transforms } = selection.value;
  const filtered = Object.keys(filter).length > 0;
  const focused = transforms.some(({ kind }) => kind !== "hide-system");
  const button = (text: string, act: () => void) => <button onClick={act}>{text}</button>;
  if (link.value.state === "refused")
    return <p class="empty">The service refuses: {link.value.reason}</p>;
  if (data.value?.samples && (filtered || focused))
    return (
      <p class="empty">
        No samples in this selection.{" "}
        {button("Show all", () =>
          select({ filter: START.filter, transforms: START.transforms, zoom: [] }),
        )}
      </p>
    );
  if (service && !service.profiler)
    return (
      <p class="empty">
        The profiler is off.{" "}
        {button("Turn it on", () =>
          backend().say({ say: "command", command: { set: "profiler", on: true } }),
        )}
      </p>
    );
  if (service && service.mode === "cpu" && service.processes.some(({ live }) => live))
    return (
      <p class="empty">
        No samples yet: the program used no CPU.{" "}
        {button("Try wall mode", () =>
          backend().say({ say: "command", command: { set: "mode", mode: "wall" } }),
        )}
      </p>
    );
  if (service) return <p class="empty">There are no samples.</p>;
  return <p class="empty">Waiting for the service…</p>;
}
