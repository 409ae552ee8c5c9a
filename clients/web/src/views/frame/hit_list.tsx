// What search found, heaviest first: each function with its share. A click or Enter picks one.
import { nameOf, libraryOf, byUnit, keyOfFunction } from "../../state/live";
import { select, selection } from "../../state/selection";
import type { SearchResult } from "../../worker/messages";
import { grouped, percent } from "../parts/format";

export const HITS_LISTED = 100;

interface Props {
  id: string;
  result: SearchResult;
  at: number; // the one that keys are on; -1: none
}

export function HitList({ id, result, at }: Props) {
  const { order, totals, whole } = result;
  const more = order.length - HITS_LISTED;
  return (
    <div class="hits" id={id} role="listbox" aria-label="Matching functions">
      {!order.length && <p class="faint">No matching functions.</p>}
      {Array.from(order.subarray(0, HITS_LISTED), (fn, i) => (
        <div
          key={fn}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === at}
          class={keyOfFunction(fn) === selection.value.picked ? "picked" : ""}
          ref={(row) => {
            if (i === at) row?.scrollIntoView({ block: "nearest" });
          }}
          onPointerDown={(event) => event.preventDefault()} // the focus stays
          onClick={() => select({ picked: keyOfFunction(fn) })}
        >
          <span class="number">{percent(totals[i], whole, byUnit(totals[i], Infinity))}</span>
          <bdi>{nameOf(fn)}</bdi>
          <bdi class="faint">{libraryOf(fn).name}</bdi>
        </div>
      ))}
      {more > 0 && <p class="faint">and {grouped(more)} more</p>}
      {result.events && result.events.count > 0 && (
        <div role="option" aria-selected={false} onClick={() => select({ view: "events" })}>
          <span class="number">{grouped(result.events.count)}</span>
          <bdi>
            {result.events.count === 1 ? "event name" : "event names"}:{" "}
            {result.events.names.map(({ name }) => name).join(", ")}
          </bdi>
        </div>
      )}
    </div>
  );
}
