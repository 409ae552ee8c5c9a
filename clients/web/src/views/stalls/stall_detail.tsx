// One stall in full: why, its story on a scale of time, who did it, what its thread was in, its last stacks.
import type { ComponentChildren } from "preact";
import type { Stall, StallPlace } from "../../wire/protocol";
import { briefOf } from "../../data/stalls/brief";
import { evidenceOf, stackGroups } from "../../data/stalls/story";
import { useAnswer } from "../../state/answer";
import { data, functionOfKey } from "../../state/live";
import { select } from "../../state/selection";
import { ink, stateColour } from "../parts/colours";
import { duration, grouped, percent } from "../parts/format";
import { pickStall } from "./pick";
import { StallStory } from "./stall_story";
import { lengthText, nameOfLoop, secondsText } from "./words";

const us = (micros: number) => duration(1000 * micros);

export function StallDetail({ number }: { number: number }) {
  const stall = useAnswer("stall", { number });
  if (!stall) return <p class="stall faint">Stall {grouped(number)} is not among those that are known.</p>;
  const brief = briefOf(stall);
  const zero_us = data.value?.extent_us?.[0] ?? 0;
  return (
    <section class={`stall ${stall.level}`} aria-label={`Stall ${number}`}>
      <header>
        <h2 dir="auto">
          <i class={`swatch ${stall.level}`} /> Stall {grouped(number)} of {nameOfLoop(brief)}: {lengthText(brief)}, {stall.level}
        </h2>
        <span class="faint">
          at {secondsText(stall.startMicros[0], zero_us)}, over {us(stall.limitMicros)}
        </span>
        <i class="space" />
        <button title="Its time and its thread, in all views" onClick={() => pickStall(brief)}>
          Select its window
        </button>
        <button class="close" title="Close" aria-label="Close the stall" onClick={() => select({ stall: 0 })}>
          ×
        </button>
      </header>
      <p dir="auto">
        <b>{stall.cause}</b>: {stall.causeText}
      </p>
      <StallStory stall={stall} />
      <div class="parts">
        <Culprit stall={stall} />
        <Evidence stall={stall} />
        <Context stall={stall} />
      </div>
      <Stacks stall={stall} />
    </section>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** A function; a press picks it where any sample has it. */
function Place({ of: { function: name, library, file, line } }: { of: StallPlace }) {
  const key = `${library}!${name}`;
  const isKnown = functionOfKey(key) >= 0;
  return (
    <>
      {isKnown ? (
        <button class="link" dir="auto" title="Select this function" onClick={() => select({ picked: key })}>
          {name}
        </button>
      ) : (
        <b dir="auto">{name || "(not known)"}</b>
      )}
      <span class="faint" dir="auto">
        {" "}
        {library}
        {file && ` · ${file}${line ? `:${line}` : ""}`}
      </span>
    </>
  );
}

function Culprit({ stall: { culprit, caller, looks } }: { stall: Stall }) {
  if (!culprit) return <Part title="Culprit">Nobody looked at its thread in time.</Part>;
  const isOwn = caller && caller.function === culprit.function && caller.library === culprit.library;
  return (
    <Part title="Culprit">
      <p>
        <Place of={culprit} />
      </p>
      {caller && !isOwn && (
        <p>
          <span class="faint">called in the program by </span>
          <Place of={caller} />
        </p>
      )}
      <p>
        {us(culprit.micros)} without a break; on top in {grouped(culprit.looks)} of {grouped(looks)} looks (
        {percent(culprit.share, 1, looks)})
      </p>
    </Part>
  );
}

const IN_WORDS = { Running: "had a processor", Runnable: "waited for one", Sleep: "slept" };

function Evidence({ stall }: { stall: Stall }) {
  const { faults, hostLateMicros, systemCall, descriptor, path, holder } = stall;
  const parts = evidenceOf(stall);
  const rows: [string, string][] = [
    ...(systemCall ? [["waited in", systemCall] as [string, string]] : []),
    ...(descriptor !== undefined ? [["descriptor", `${descriptor}${path ? `: ${path}` : ""}`] as [string, string]] : []),
    ...(holder ? [["held by", `${holder.thread || "thread"} (${holder.tid})${holder.function ? ` in ${holder.function}` : ""}`] as [string, string]] : []),
    ...(faults ? [["page faults", grouped(faults)] as [string, string]] : []),
    ...(hostLateMicros ? [["isoscope late too", us(hostLateMicros)] as [string, string]] : []),
  ];
  return (
    <Part title="Its thread meanwhile">
      {parts.length > 0 && (
        <div class="evidence" aria-hidden="true">
          {parts.map(({ state, micros }) => (
            <i style={{ flexGrow: micros, background: stateColour(state, ink.value) }} />
          ))}
        </div>
      )}
      <p>
        {parts.map(({ state, micros }) => (
          <span>
            <i class="swatch" style={{ background: stateColour(state, ink.value) }} /> {IN_WORDS[state]} {us(micros)}{" "}
          </span>
        ))}
      </p>
      <Rows of={rows} />
    </Part>
  );
}

function Context({ stall }: { stall: Stall }) {
  const { tag, slice, prefix, equals, updates, told } = stall;
  const rows: [string, string][] = [
    ...(slice ? [["in slice", slice] as [string, string]] : []),
    ...(tag ? [["user tag", tag] as [string, string]] : []),
    ...(equals > 1 ? [["equal ones", `${grouped(equals)} of this loop so far${told ? "" : "; this one was not told"}`] as [string, string]] : []),
    ...(updates ? [["told again", grouped(updates)] as [string, string]] : []),
    ["all stacks begin", prefixText(prefix)],
  ];
  return (
    <Part title="What it was about">
      <Rows of={rows} />
    </Part>
  );
}

const PREFIX_TOLD = 5; // the innermost: what is farther out is in the stacks

function prefixText(prefix: string[]): string {
  if (!prefix.length) return "differently";
  const told = prefix.slice(-PREFIX_TOLD).join(" › ");
  const more = prefix.length - PREFIX_TOLD;
  return more > 0 ? `${grouped(more)} outer functions › ${told}` : told;
}

function Rows({ of }: { of: [string, string][] }) {
  return (
    <table class="given">
      {of.map(([name, value]) => (
        <tr>
          <th>{name}</th>
          <td dir="auto">{value}</td>
        </tr>
      ))}
    </table>
  );
}

/** One beside the other, leaf first; what all of them begin with is faint. */
function Stacks({ stall }: { stall: Stall }) {
  const groups = stackGroups(stall.stacks ?? []);
  if (!groups.length) return null;
  const common = groups.length > 1 ? stall.prefix.length : 0;
  return (
    <>
      <h3>Its last stacks, innermost function first</h3>
      <div class="stacks" tabIndex={0} role="group" aria-label="Stacks">
        {groups.map(({ from_us, to_us, looks, state, functions }) => (
          <div>
            <h4>
              {span(from_us - stall.startMicros[0], to_us - stall.startMicros[0])}{" "}
              <span class="faint">
                {state}
                {looks > 1 && `, ${grouped(looks)} looks`}
              </span>
            </h4>
            <ol>
              {functions.map((name, i) => (
                <li class={functions.length - i <= common ? "faint" : ""} title={name} dir="auto">
                  {name}
                </li>
              ))}
            </ol>
          </div>
        ))}
      </div>
    </>
  );
}

function span(from_us: number, to_us: number): string {
  return from_us === to_us ? `+${us(from_us)}` : `+${us(from_us)} to +${us(to_us)}`;
}
