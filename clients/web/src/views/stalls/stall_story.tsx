// The story of a stall: which function was on top from when to when. A press on one selects its time.
import { OTHERS } from "../../data/colour_slots";
import { shortName } from "../../data/short_name";
import { storyParts, storySpan, type StoryPart } from "../../data/stalls/story";
import { legend, slotOf } from "../../state/colouring";
import { names } from "../../state/live";
import { select, selection } from "../../state/selection";
import type { Stall } from "../../wire/protocol";
import { fill } from "../parts/colours";
import { duration, grouped } from "../parts/format";
import { useRoving } from "../parts/roving";
import { tip } from "../parts/tip";

const us = (micros: number) => duration(1000 * micros);

export function StallStory({ stall }: { stall: Stall }) {
  const parts = storyParts(stall);
  const [from, to] = storySpan(stall);
  const roving = useRoving();
  if (!parts.length) return null;
  return (
    <>
      <div class="story" role="toolbar" aria-label="Its story: functions in the order of time" {...roving}>
        {parts.map((part) => (
          <Run part={part} tid={stall.tid} zero_us={from} />
        ))}
      </div>
      <div class="story-scale faint" aria-hidden="true">
        <span>0</span>
        <span>{us((to - from) / 2)}</span>
        <span>{us(to - from)}</span>
      </div>
    </>
  );
}

/** The colour of the function of that name that samples have; of a name that none has: that of the others. */
function colourOf(name: string): string {
  const by = legend.value?.by ?? "library";
  const fn = names.functions.findIndex((one) => one.name === name);
  return fill(fn < 0 ? (by === "heat" ? 0 : OTHERS) : slotOf(fn), by, name);
}

const LETTERS_MOST = 60;

function Run({ part, tid, zero_us }: { part: StoryPart; tid: number; zero_us: number }) {
  const { function: name, from_us, to_us, looks, left, width, isCulprit } = part;
  const window_us: [number, number] = [from_us, Math.max(from_us + 1, to_us)];
  const isPicked = String(selection.value.filter.window_us) === String(window_us);
  const lines = [
    name || "(not known)",
    `${us(to_us - from_us)}${isCulprit ? ": the culprit" : ""}`,
    `from +${us(from_us - zero_us)} to +${us(to_us - zero_us)}`,
    `${grouped(looks)} ${looks === 1 ? "look" : "looks"}`,
  ];
  return (
    <button
      class={`${isCulprit ? "culprit" : ""}${isPicked ? " picked" : ""}`}
      style={`left: ${100 * left}%; width: ${100 * width}%; background: ${colourOf(name)}`}
      aria-label={lines.join(", ")}
      aria-pressed={isPicked}
      onClick={() => {
        const { processes: _, ...filter } = selection.value.filter;
        select({ filter: { ...filter, window_us, threads: [tid] } });
      }}
      onPointerMove={({ clientX: x, clientY: y }) => (tip.value = { x, y, lines })}
      onPointerLeave={() => (tip.value = null)}
    >
      <bdi>{shortName(name, LETTERS_MOST)}</bdi>
    </button>
  );
}
