// Stalls and loops, as _getStalls and _getLoopStats tell of them.

/** At least, and at most. */
export type Range = [number, number];

export interface StallPlace {
  function: string; // "": not known
  library: string;
  file?: string;
  line?: number;
}

export interface StallRun {
  function: string;
  fromMicros: number;
  toMicros: number;
  looks: number;
}

export interface StallStack {
  micros: number;
  state: string;
  functions: string[]; // leaf first
}

export interface Stall {
  number: number;
  isolateId: string;
  pid: number;
  tid: number;
  thread: string;
  loop: number;
  name: string;
  level: "stall" | "hang" | "dead";
  ongoing: boolean;
  told: boolean;
  equals: number;
  updates: number;
  limitMicros: number;
  startMicros: Range;
  durationMicros: Range;
  timeOriginMicros: number;
  timeExtentMicros: number;
  cause: string;
  causeText: string;
  runningMicros: number;
  runnableMicros: number;
  sleepingMicros: number;
  faults: number;
  hostLateMicros: number;
  systemCall?: string;
  descriptor?: number;
  path?: string;
  holder?: { tid: number; thread: string; function: string };
  culprit?: StallPlace & { micros: number; looks: number; share: number };
  caller?: StallPlace;
  looks: number;
  tag?: string;
  slice?: string;
  prefix: string[]; // outermost first
  story: StallRun[];
  stacks: StallStack[];
}

export interface StallList {
  type: "_StallList";
  next: string;
  stalls: Stall[];
}

export interface LoopTimes {
  count: number;
  p50: Range;
  p95: Range;
  p99: Range;
  max: Range;
  sum: number;
}

export type Limits = Record<"jank" | "stall" | "hang" | "dead", number>;

export interface Loop {
  number: number;
  isolateId: string;
  pid: number;
  tid: number;
  thread: string;
  name: string;
  kind: string;
  ended: boolean;
  watched: boolean;
  busy: boolean;
  dispatches: number;
  dispatch: LoopTimes;
  delay: LoopTimes;
  blockingMicros: number;
  levels: Limits;
  causes: Record<string, number>;
  dismissed: number;
  limits: Limits;
}

export interface LoopStats {
  type: "_LoopStats";
  limits: Limits; // ms
  watch: string;
  loops: Loop[];
  unwatched: { isolateId: string; pid: number; tid: number; thread: string; systemCall: string }[];
}
