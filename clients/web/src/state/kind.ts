// The kind of samples that is shown, and those that there are.
import { computed, effect } from "@preact/signals";
import { KIND_NAMES, kindsSampled } from "../data/kinds";
import type { SamplesKind } from "../wire/protocol";
import { backend, data, files, held, info } from "./live";
import { select, selection, START } from "./selection";

/** Of what has none but time, only that. */
export const kinds = computed<SamplesKind[]>(() => {
  const sampled = files.value.shown ? [] : kindsSampled(info.value?.flags ?? {});
  const known = new Set<SamplesKind>(["time", ...sampled, ...(data.value?.kinds ?? [])]);
  return KIND_NAMES.filter((one) => known.has(one));
});

/** What is asked for: of a link to another service it may be what this one has not. */
export const wantedKind = computed<SamplesKind>(() => {
  const { kind } = selection.value;
  return kinds.value.includes(kind) ? kind : "time";
});

export function showKind(kind: SamplesKind): void {
  select({ kind, event: START.event, stall: START.stall });
}

/** The worker follows what is asked for. */
export function keepKind(): void {
  effect(() => {
    void files.value.shown; // what is shown behind it is of that kind, too
    backend().say({ say: "show", kind: wantedKind.value, held: held.value });
  });
}
