// Messages that no other protocol has: what an editor's own views show beside the text. It imports nothing, for such
// editors read it, too.
//
// All names are harmless; shares are 0 to 1, lines are from 1 on.

export const REQUESTS = {
  overview: "isoscope/overview", // -> Overview
  lines: "isoscope/lines", // { uri } -> Lines
} as const;

/** Sent where the editor's capabilities say `experimental: { isoscope: true }`. */
export const NOTIFICATIONS = {
  changed: "isoscope/changed", // {}: ask again
  output: "isoscope/output", // Output
  ended: "isoscope/ended", // Ended
} as const;

/** What a program that was run writes. */
export interface Output {
  id?: string; // that its launch entry had
  text: string;
}

export interface Ended {
  id?: string;
  status: number | null; // null: by a signal
}

export interface Status {
  text: string;
  samples: number;
  unit: string;
  source: string; // "": nothing is shown
  link: string;
  version: number;
  comparedWith: string;
  problems: string[];
}

export interface Place {
  uri: string;
  line: number; // 0: it has none any more
  isStale: boolean;
}

export interface FunctionRow {
  key: string; // what isoscope.openPage takes
  name: string;
  library: string;
  self: number;
  total: number;
  samples: number; // with what it calls
  trend: string; // "": there is nothing to compare with
  place: Place | null;
}

export interface StallRow {
  number: number;
  loop: string;
  thread: string;
  level: string;
  cause: string;
  culprit: string; // "": not known
  duration: string; // in words
  isOngoing: boolean;
  place: Place | null; // of the culprit
}

export interface Overview {
  status: Status;
  isLive: boolean; // samples may still come
  cpu: number | null; // processors that are used now: 1 is one of them. null: nothing runs, or it is not known yet
  functions: FunctionRow[]; // by self, the heaviest first
  stalls: StallRow[]; // the newest first
}

export interface LineRow {
  line: number;
  self: number;
  total: number;
  samples: number;
}

export interface Lines {
  stale: string; // why there are no lines; "": they are of this text
  lines: LineRow[];
}
