// Why there is nothing to see, and what to do.
import type { ComponentChildren } from "preact";
import type { Command } from "../../wire/service";
import { backend, data, held, hold, info, isTime, kindShown, link, look, newest } from "../../state/live";
import { framesShown, select, selection, START, type View } from "../../state/selection";
import { isFolding } from "../../worker/messages";

const FEW = 20; // samples: less than the start of most programs

const run = (command: Command) => backend().say({ say: "command", command });
const TRY_WALL: [string, () => void] = ["Try wall mode", () => run({ set: "mode", mode: "wall" })];

/** The act that helps, where there is one. */
function Said({ children, act }: { children: ComponentChildren; act?: [string, () => void] }) {
  return (
    <p class="empty" role="status">
      {children} {act && <button onClick={act[1]}>{act[0]}</button>}
    </p>
  );
}

/** Views of what samples of time alone can tell. */
const TIME_VIEWS: View[] = ["chart", "events", "stalls"];

export function isOfTime(view: View): boolean {
  return !isTime.value && (TIME_VIEWS.includes(view) || (kindShown.value.isMoment && view === "heat-map"));
}

/** In the place of such a view. */
export function OfTime() {
  const { isMoment, noun } = kindShown.value;
  const why =
    isMoment && selection.value.view === "heat-map"
      ? "What is live is a snapshot of this moment: it has no line of time."
      : `This view is of time. What is ${noun} is in the flame graph, the trees and the tables.`;
  return <Said act={["Show time", () => select({ kind: "time" })]}>{why}</Said>;
}

function NothingSelected() {
  const { transforms } = selection.value;
  const { filter } = look.value;
  const { window_us, until: _, until_us: __, ...others } = filter;
  const focused = transforms.some(({ kind }) => !isFolding(kind));
  const all = () => select({ filter: START.filter, transforms: START.transforms, zoom: [] });
  const isAnyOther = Object.keys(others).length > 0 || focused;
  if (window_us && !isAnyOther && !isTime.value)
    return <Said act={["Show all time", all]}>Nothing that was {kindShown.value.noun} in this range was sampled.</Said>;
  if (window_us && !isAnyOther && info.value?.mode === "cpu")
    return (
      <Said act={["Show all time", all]}>
        No samples in this range: the program used no CPU then. Wall mode also samples threads that
        wait.
      </Said>
    );
  return (
    <Said act={["Show all", all]}>
      {framesShown.value === "only-mine" && !focused
        ? "None of the samples is of functions of your own: all are the system's or the interpreter's."
        : `No samples match ${focused ? "the focus and the filters" : "the filters"}.`}
    </Said>
  );
}

export function Empty() {
  const service = info.value;
  const { filter: { until: _, until_us: __, ...filter }, transforms } = look.value;
  const narrowed =
    Object.keys(filter).length > 0 || transforms.some(({ kind }) => kind !== "hide-system" && kind !== "fold-runtime");
  if (link.value.state === "refused") return <Said>The service refused: {link.value.reason}</Said>;
  if (data.value?.samples && narrowed) return <NothingSelected />;
  if (held.value)
    return (
      <Said act={["Resume", () => hold(false)]}>
        There were no samples when the view was paused.
      </Said>
    );
  if (link.value.state === "none") return <Said>Opening the file…</Said>;
  if (!isTime.value) return <Said>{kindShown.value.none}</Said>;
  if (!service) return <Said>Waiting for the service…</Said>;
  if (!service.processes.some(({ live }) => live)) {
    const why = service.profiler ? "without a sample" : "with the profiler off";
    return <Said>The program has ended {why}.</Said>;
  }
  if (!service.profiler)
    return (
      <Said act={["Turn it on", () => run({ set: "profiler", on: true })]}>
        The profiler is off.
      </Said>
    );
  if (service.mode === "cpu")
    return (
      <Said act={TRY_WALL}>
        No samples yet: the program has used no CPU.
      </Said>
    );
  return <Said>No samples yet.</Said>;
}

/** Across the page, above the few samples that there are: a program may wait from its first moment on. */
export function Few() {
  const service = info.value;
  const samples = newest.value?.samples ?? 0;
  const runs = service?.profiler && service.processes.some(({ live }) => live);
  if (!isTime.value || !samples || samples >= FEW || !runs || service.mode !== "cpu" || link.value.state !== "open")
    return null;
  const [word, act] = TRY_WALL;
  return (
    <div class="banner" role="status">
      Hardly any samples: the program has used little CPU. <button onClick={act}>{word}</button>
    </div>
  );
}
