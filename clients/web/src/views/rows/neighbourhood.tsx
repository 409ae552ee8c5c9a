// Who calls the picked function, beside whom it calls: all of them, heaviest first.
import type { Neighbour } from "../../data/sums/neighbours";
import { useAnswer } from "../../state/answer";
import { byUnit, data, functionOfKey, keyOfFunction, look, nameOf } from "../../state/live";
import { openMenu } from "../../state/page";
import { select, selection } from "../../state/selection";
import { FunctionName, Share, Weight } from "../parts/cells";

const NAME_PART = 0.18; // of the window, for names in one of the two lists
const MOST = 500; // rows that are elements; behind that nobody reads

interface Whole {
  samples: number;
  time_ns: number;
}

export function Neighbourhood({ whole }: { whole: Whole }) {
  const fn = data.value ? functionOfKey(selection.value.picked) : -1;
  const around = useAnswer("neighbours", fn < 0 ? null : { ...look.value, fn });
  if (fn < 0)
    return <div class="neighbours faint">Select a function to see its callers and callees.</div>;
  return (
    <div class="neighbours">
      <List title={`Callers of ${nameOf(fn)}`} list={around?.callers ?? []} whole={whole} />
      <List title={`Callees of ${nameOf(fn)}`} list={around?.callees ?? []} whole={whole} />
    </div>
  );
}

function List({ title, list, whole }: { title: string; list: Neighbour[]; whole: Whole }) {
  const of = byUnit(whole.samples, whole.time_ns);
  return (
    <section aria-label={title}>
      <h3 dir="auto">
        {title}: {list.length}
      </h3>
      <div>
        {list.slice(0, MOST).map((one) => {
          const weight = byUnit(one.samples, one.time_ns);
          return (
            <button
              class="row"
              disabled={one.fn < 0}
              onClick={() => select({ picked: keyOfFunction(one.fn) })}
              onContextMenu={(event) => {
                select({ picked: keyOfFunction(one.fn) });
                openMenu(event);
              }}
            >
              <Share part={weight} whole={of} samples={one.samples} />
              <Weight weight={weight} />
              <span class="name">
                {one.fn < 0 ? <bdi>(start of the thread)</bdi> : <FunctionName fn={one.fn} room={NAME_PART * innerWidth} />}
              </span>
            </button>
          );
        })}
        {list.length > MOST && <p class="faint">and {list.length - MOST} more</p>}
      </div>
    </section>
  );
}
