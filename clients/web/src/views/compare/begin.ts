// What a comparison begins with: keys and buttons of any view take it from here.
import { backend, kindShown } from "../../state/live";
import { select, selection } from "../../state/selection";

/** The window that is selected now becomes what is compared with. */
export function compareWithWindow(): void {
  const { window_us } = selection.value.filter;
  if (window_us) select({ view: "compare", before: { kind: "window", window_us } });
}

/** Of what is live: it becomes what later moments are compared with. */
export function keepMoment(): void {
  const name = `${kindShown.value.noun} at ${new Date().toLocaleTimeString()}`;
  backend().say({ say: "keep", name });
}
