// What samples stand for: a row for each kind that a service may have. A further kind is one row more.
import type { SamplesKind } from "../wire/protocol";

/** What happened, what it means for the numbers, what helps. */
export interface Loss {
  what: string;
  means: string;
  helps: string;
}

export interface KindRow {
  word: string; // on the switch
  about: string; // what its samples are
  missing: string; // what a service without it is told to do
  unit: "ns" | "bytes" | "count"; // what weights are
  units: [weights: string, objects: string]; // as columns are headed
  noun: string; // behind a weight: "4.0 MiB allocated"
  curve: string; // beside the overview's
  isMoment: boolean; // it is what there is now: it has no line of time
  none: string; // where there is no sample
  flag: string; // of the service, that says how it is sampled; "0" and "false": it is not
  counter: string; // of the service: more than 0 where there are samples
  losses: Record<string, Loss>; // by counter; of time: the feed's, in losses.tsx
  pprof: [objects: string, weights: string, unit: string];
}

const ALLOC_LOST: Loss = {
  what: "No stack could be taken, or the service read a thread's samples too slowly.",
  means: "Bytes and objects of these places are missing.",
  helps: "Sample fewer (--alloc=BYTES with more bytes), or give the service more CPU time.",
};
const ALLOC_LOOSE: Loss = {
  what: "The program has no address space for what is sampled.",
  means: "Some is in what was allocated, and not in what is live.",
  helps: "Allow it more (ulimit -v).",
};

const ALLOCATIONS = {
  missing: "no allocations are sampled here. Run the program with isoscope run --alloc",
  ...{ unit: "bytes", units: ["bytes", "objects"], flag: "profile_alloc", counter: "alloc_sampled" },
} satisfies Partial<KindRow>;

const WAITS = {
  missing: "no waits are sampled here. Run the program with isoscope run --lock",
  ...{ unit: "ns", units: ["waited", "waits"], flag: "profile_lock", isMoment: false },
  losses: {
    wait_lost: {
      what: "No stack could be taken, or the service read a thread's samples too slowly.",
      means: "Time waited in these places is missing.",
      helps: "Sample fewer (--lock=MICROSECONDS with more of them), or give the service more CPU time.",
    },
  },
  pprof: ["contentions", "delay", "nanoseconds"],
} satisfies Partial<KindRow>;

export const KINDS: Record<SamplesKind, KindRow> = {
  time: {
    word: "Time",
    about: "CPU time; in wall mode, waiting too",
    missing: "",
    ...{ unit: "ns", units: ["time", "samples"], noun: "CPU", curve: "CPU", isMoment: false, none: "" },
    ...{ flag: "", counter: "", losses: {}, pprof: ["samples", "cpu", "nanoseconds"] },
  },
  alloc: {
    ...ALLOCATIONS,
    word: "Allocated",
    about: "all that was allocated, whether it was freed since or not",
    ...{ noun: "allocated", curve: "alloc", isMoment: false, losses: { alloc_lost: ALLOC_LOST } },
    none: "Nothing allocated was sampled yet: the program has allocated little. Run it with --alloc=BYTES: one allocation in so many bytes is sampled.",
    pprof: ["alloc_objects", "alloc_space", "bytes"],
  },
  live: {
    ...ALLOCATIONS,
    word: "Live",
    about: "what is allocated and not freed",
    ...{ noun: "live", curve: "", isMoment: true, losses: { alloc_lost: ALLOC_LOST, alloc_loose: ALLOC_LOOSE } },
    none: "Nothing that was sampled is live now: the program has freed it, or has allocated little. Run it with --alloc=BYTES: one allocation in so many bytes is sampled.",
    pprof: ["inuse_objects", "inuse_space", "bytes"],
  },
  lock: {
    ...WAITS,
    word: "Locks",
    about: "waits for locks that another thread had; the leaf is the lock",
    ...{ noun: "waited", curve: "locks", counter: "lock_waits" },
    none: "No wait for a lock was sampled yet: no thread has waited long for one that another thread had.",
  },
  wait: {
    ...WAITS,
    word: "Waits",
    about: "waits for condition variables, semaphores and futexes, idle ones too",
    ...{ noun: "waited", curve: "waits", counter: "wait_sampled" },
    none: "No wait was sampled yet: no thread has waited long for another one.",
  },
  fault: {
    word: "Faults",
    about: "page faults: memory touched for the first time",
    missing: "no page faults are sampled here. Run the program with isoscope run --faults",
    ...{ unit: "count", units: ["faults", "samples"], noun: "page faults", curve: "faults", isMoment: false },
    none: "No page fault was sampled yet: the program has had few. One in 100 is sampled (--faults=N).",
    ...{ flag: "profile_faults", counter: "fault_sampled" },
    losses: {
      fault_lost: {
        what: "No stack could be taken: in code that blocks signals, mostly the sampler's own.",
        means: "Page faults of these places are missing.",
        helps: "Sample fewer: --faults=N with a larger N.",
      },
    },
    pprof: ["samples", "page_faults", "count"],
  },
};

export const KIND_NAMES = Object.keys(KINDS) as SamplesKind[];

/** Those other than time that a service samples now, as its flags say. */
export function kindsSampled(flags: Readonly<Record<string, string>>): SamplesKind[] {
  return KIND_NAMES.filter((kind) => !["0", "false"].includes(flags[KINDS[kind].flag] ?? "0"));
}
