// Samples that were lost: few are a word in the status line, many a banner. Why, and what it means.
import { KINDS, type Loss } from "../../data/kinds";
import { newest } from "../../state/live";
import { grouped, percent } from "../parts/format";

const MANY = 0.05; // of all samples
const LEAST = 20; // a program that waits may have lost the one tick it had

// What samples stand for makes up for the loss of some.
const NEXT_STANDS =
  "The thread's next sample stands for the time in between. CPU time by thread stays right; functions that ran only in between are missed.";
const UNSEEN = "These threads are not in the profile. Shares are of the others.";
const GAPS = "Gaps in the lanes can look like idle time. Shares are of the rounds that were kept.";

const CAUSES: Record<string, Loss> = {
  ring_full: {
    what: "The service read a thread's samples too slowly.",
    means: NEXT_STANDS,
    helps: "Sample less often (--period), or give the service more CPU time.",
  },
  no_slot: {
    what: "There were too many threads at once, or no memory for one more.",
    means: UNSEEN,
    helps: "Raise the limits of memory and file size (ulimit -v, ulimit -f).",
  },
  no_tables: {
    what: "Code ran before isoscope could read its unwind tables.",
    means: "The start of the program, or of a library, is missing.",
    helps: "Nothing is needed: it ends a moment after the start.",
  },
  overrun: {
    what: "A thread ran without being interrupted: it blocks signals, or was in the kernel.",
    means: NEXT_STANDS,
    helps: "Nothing is needed where it was the kernel. Else do not block SIGTRAP and SIGURG for long.",
  },
  no_timer: {
    what: "The kernel refused a timer for a thread.",
    means: UNSEEN,
    helps: "Raise the limit of pending signals (ulimit -i), or allow timer_create in the seccomp filter.",
  },
  no_signal: {
    what: "The program uses or ignores every signal that could interrupt a thread.",
    means: UNSEEN,
    helps: "Leave SIGURG, SIGSTKFLT or SIGPROF free.",
  },
  busy: {
    what: "A thread was in the middle of writing something else into its ring.",
    means: NEXT_STANDS,
    helps: "Nothing is needed where it is rare.",
  },
  modules_full: {
    what: "The program has loaded more libraries than isoscope keeps.",
    means: "Functions of the further libraries are not in the profile.",
    helps: "Profile a shorter run, or one with fewer libraries.",
  },
  awake: {
    what: "A sleeping thread woke up while its stack was read.",
    means: GAPS,
    helps: "Nothing is needed where it is rare. A longer --period makes it rarer.",
  },
  late: {
    what: "The machine was busy: the service was too late for a round of wall mode.",
    means: GAPS,
    helps: "Use a longer --period, fewer threads, or a less busy machine.",
  },
  no_rights: {
    what: "The kernel does not let isoscope read the stacks of sleeping threads.",
    means: UNSEEN,
    helps: "Run isoscope as the program's user, or as root; or use CPU mode.",
  },
  sandboxed: {
    what: "The program sandboxed itself with a seccomp filter.",
    means: "The profile ends there.",
    helps: "Profile the program without its sandbox.",
  },
  throttled: {
    what: "Sampling took too much of a thread's time, so its period was made longer.",
    means: NEXT_STANDS,
    helps: "Sample less often (--period).",
  },
};

const UNKNOWN: Loss = { what: "", means: "Samples are missing.", helps: "isoscope stats tells more." };

const causeOf = (name: string) => KINDS[newest.value?.kind ?? "time"].losses[name] ?? CAUSES[name];

function lossesNow() {
  const causes = Object.entries(newest.value?.lost ?? {}).sort((a, b) => b[1] - a[1]);
  const lost = causes.reduce((sum, [, count]) => sum + count, 0);
  const all = lost + (newest.value?.met || newest.value?.samples || 0);
  return { causes, lost, all, many: lost >= LEAST && lost >= MANY * all };
}

function shareOf(count: number, all: number): string {
  return count < 0.0005 * all ? "under 0.1 %" : percent(count, all);
}

/** Of each cause: what happened, what it means for the numbers, what helps. */
function Why() {
  const { causes, all } = lossesNow();
  return (
    <details class="why">
      <summary>why?</summary>
      <dl>
        {causes.map(([name, count]) => {
          const { what, means, helps } = causeOf(name) ?? { ...UNKNOWN, what: name };
          return (
            <>
              <dt>
                {grouped(count)} ({shareOf(count, all)}): {what}
              </dt>
              <dd>{means}</dd>
              <dd>
                <b>Remedy:</b> {helps}
              </dd>
            </>
          );
        })}
      </dl>
    </details>
  );
}

/** In the status line, where they are few. */
export function Losses() {
  const { lost, all, many } = lossesNow();
  if (!lost || many) return null;
  return (
    <span class="faint losses">
      {grouped(lost)} {lost === 1 ? "sample" : "samples"} lost ({shareOf(lost, all)}) <Why />
    </span>
  );
}

/** Across the page, where they are so many that numbers may mislead. */
export function LossBanner() {
  const { lost, all, many, causes } = lossesNow();
  if (!many) return null;
  return (
    <div class="banner losses" role="alert">
      <span class="warn">
        {shareOf(lost, all)} of all samples were lost ({grouped(lost)}).
      </span>{" "}
      {(causeOf(causes[0][0]) ?? UNKNOWN).what} <Why />
    </div>
  );
}
