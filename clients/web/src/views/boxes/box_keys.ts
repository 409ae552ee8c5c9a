// Boxes by keys: arrows go from box to box, Enter zooms to one, + and - zoom around it.
import { rowCount } from "./box_draw";
import { type Place, type Spot, type Step, stepFrom } from "./box_place";
import type { BoxCanvasProps, BoxView, Range } from "./box_view";

function stepOf(key: string, rootBelow: boolean): Step | undefined {
  const steps: Record<string, Step> = {
    ArrowUp: rootBelow ? "in" : "out",
    ArrowDown: rootBelow ? "out" : "in",
    ArrowLeft: "left",
    ArrowRight: "right",
  };
  return steps[key];
}

/** What it needs of a view. */
type Moved = Pick<BoxView, "whole" | "show"> & { viewport: Range };

/** current: the box that keys are on; goTo: another one. */
export function boxKeys(
  { boxes, rootBelow, onZoom }: Pick<BoxCanvasProps, "boxes" | "rootBelow" | "onZoom">,
  { viewport, whole, show }: Moved,
  current: Spot | null,
  goTo: (next: Place) => void,
) {
  const { from, to } = viewport;
  const zoom = (factor: number) => {
    const { box } = current ?? { box: -1 };
    const middle = current ? boxes.x[box] + boxes.width[box] / 2 : (from + to) / 2;
    const extent = Math.min(whole, (to - from) * factor);
    show(middle - extent / 2, middle + extent / 2);
  };
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = stepOf(event.key, rootBelow);
    if (step) {
      const next = current
        ? stepFrom(boxes, current.box, current.row, step)
        : rowCount(boxes) > 0 && stepFrom(boxes, -1, 0, "right"); // the first that is somebody's
      if (next) goTo(next);
    } else if (event.key === "Enter" && current) onZoom(current.box, current.row);
    else if (event.key === "+") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else return;
    event.preventDefault();
  };
}
