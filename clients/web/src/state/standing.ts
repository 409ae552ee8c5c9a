// Whether something is recorded now, in a word: the header, the tab's title and its icon say it.
import { computed } from "@preact/signals";
import type { SavedFile } from "../wire/protocol";
import type { ProcessInfo } from "../wire/service";
import { files, info, link } from "./live";

export interface Standing {
  kind: "recording" | "paused" | "ended" | "disconnected" | "connecting" | "file" | "saved";
  word: string;
}

function ended(processes: readonly ProcessInfo[]): string {
  const { status, signal } = processes.find(({ exit }) => exit)?.exit ?? {};
  if (signal) return `Ended by ${signal}`;
  return status === undefined ? "Ended" : `Ended with status ${status}`;
}

export const standing = computed<Standing>(() => {
  const processes = info.value?.processes ?? [];
  if (files.value.shown)
    return { kind: "file", word: files.value.shown.session ? "Saved session" : "File" };
  const saved = info.value?.saved.length ?? 0;
  if (saved && link.value.state === "open")
    return { kind: "saved", word: saved === 1 ? "Saved session" : `${saved} saved sessions` };
  // Also when the service is gone since: it mostly goes with the program.
  if (processes.length && !processes.some(({ live }) => live))
    return { kind: "ended", word: ended(processes) };
  if (link.value.state === "refused") return { kind: "disconnected", word: "Refused" };
  if (link.value.state === "lost") return { kind: "disconnected", word: "Disconnected" };
  if (link.value.state !== "open" || !info.value) return { kind: "connecting", word: "Connecting" };
  if (!info.value.profiler) return { kind: "paused", word: "Paused" };
  return { kind: "recording", word: "Recording" };
});

/** The sessions that are shown: of a service that was given them, or of the file that is opened. */
export const savedShown = computed<readonly SavedFile[]>(() => {
  const { shown } = files.value;
  if (shown) return shown.session ? [shown.session.file] : [];
  return info.value?.saved ?? [];
});

/** What is looked at: a file, sessions that are served, or the program. */
export const shownName = computed(
  () =>
    files.value.shown?.name ??
    (savedShown.value.map(({ name }) => name).join(", ") || info.value?.processes[0]?.name),
);

/** A page that can have no program: nothing is offered that needs one. */
export const isWithoutProgram = computed(
  () => link.value.state === "none" || (info.value?.saved.length ?? 0) > 0,
);

/** Is there a program that can be recorded? */
export const canRecord = computed(() => ["recording", "paused"].includes(standing.value.kind));
