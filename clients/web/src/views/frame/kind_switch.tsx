// What samples the page shows: time, or what else the service has. With time alone there is nothing to switch.
import { KINDS } from "../../data/kinds";
import { kinds, showKind, wantedKind } from "../../state/kind";
import { data, files, info } from "../../state/live";
import { selection } from "../../state/selection";
import { useRoving } from "../parts/roving";

export function KindSwitch() {
  const roving = useRoving();
  const wanted = wantedKind.value;
  const { kind } = selection.value;
  if (kinds.value.length > 1)
    return (
      <div class="controls kind" role="toolbar" aria-label="Kind of samples" aria-busy={data.value?.kind !== wanted} {...roving}>
        {kinds.value.map((one) => (
          <button aria-pressed={one === wanted} title={`${KINDS[one].about} (k)`} onClick={() => showKind(one)}>
            {KINDS[one].word}
          </button>
        ))}
      </div>
    );
  // A link to another run, or one that was written by hand.
  if (kind === "time" || !(info.value || files.value.shown)) return null;
  return (
    <span class="warn" role="status" title={KINDS[kind].missing}>
      Time is shown: {files.value.shown ? `the file has no samples of ${KINDS[kind].word.toLowerCase()}` : KINDS[kind].missing}
    </span>
  );
}
