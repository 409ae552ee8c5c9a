// What colours stand for: each with its share of the selection, and a filter on a click.
import { useEffect } from "preact/hooks";
import type { Filter } from "../../data/filter";
import type { ColourBy } from "../../data/colour_keys";
import { useAnswer } from "../../state/answer";
import { legend } from "../../state/colouring";
import { data, isTime, look, unitWord } from "../../state/live";
import { select, selection } from "../../state/selection";
import { type ColourName, colourNames } from "../parts/colour_names";
import { fill } from "../parts/colours";
import { useRoving } from "../parts/roving";

const CHOICES: [ColourBy, string][] = [
  ["library", "by library"],
  ["package", "by package"],
  ["thread", "by thread"],
  ["heat", "by self time"],
  ["kind", "by kind of code"],
];

const FILTERS = { library: "libraries", package: "packages", thread: "threads", kind: "kinds" } as const;

type Press = Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">;

/** As filters have them: threads by number. */
function valuesOf(by: ColourBy, { keys }: ColourName): (string | number)[] {
  return by === "thread" ? keys.map(Number) : keys;
}

/** Only this one; with Shift or Ctrl together with others; once more: without it. */
function filtered(by: keyof typeof FILTERS, one: ColourName, press: Press): Filter {
  const { [FILTERS[by]]: now = [], ...rest } = selection.value.filter as Filter & Record<string, unknown[]>;
  const values = valuesOf(by, one);
  const isIn = values.every((value) => now.includes(value as never));
  const together = press.shiftKey || press.ctrlKey || press.metaKey;
  const others = together ? now.filter((value) => !values.includes(value as never)) : [];
  const isOut = isIn && (together || now.length === values.length);
  const next = isOut ? others : [...others, ...values];
  return next.length ? { ...rest, [FILTERS[by]]: next } : rest;
}

function Entry({ by, one }: { by: ColourBy; one: ColourName }) {
  const { text, slot, share } = one;
  const swatch = <i class="swatch" style={{ background: fill(slot, by) }} />;
  if (by === "heat")
    return (
      <span>
        {swatch} {text}
      </span>
    );
  const now = selection.value.filter[FILTERS[by]] as unknown[] | undefined;
  const isIn = !now || valuesOf(by, one).every((value) => now.includes(value));
  return (
    <button
      class={isIn ? "" : "faint"}
      aria-pressed={Boolean(now) && isIn}
      title={`${text}: ${share} self. Click: only this; with Shift: this too`}
      onClick={(event) => select({ filter: filtered(by, one, event), zoom: [] })}
    >
      {swatch} <bdi>{text}</bdi> {share}
    </button>
  );
}

export function LegendBar() {
  const { colour } = selection.value;
  const answer = useAnswer("legend", { ...look.value, group: "", colour });
  const told = answer?.by === colour ? answer : null;
  useEffect(() => void (legend.value = answer), [answer]);
  const roving = useRoving();
  if (data.value?.samples === 0) return null;
  return (
    <div class="legend" role="toolbar" aria-label="Colours" {...roving}>
      <select
        aria-label="Colours"
        title="What colours stand for"
        value={colour}
        onChange={({ currentTarget }) => select({ colour: currentTarget.value as ColourBy })}
      >
        {CHOICES.map(([by, text]) => (
          <option value={by}>{by === "heat" && !isTime.value ? `by self ${unitWord.value}` : text}</option>
        ))}
      </select>
      {colourNames(told).map((one) => (
        <Entry key={one.keys[0] ?? one.slot} by={colour} one={one} />
      ))}
    </div>
  );
}
