// How many processors a program uses now: how its CPU time grew within the last seconds.
const WINDOW_MS = 3000; // samples come in heaps: below, it would jump
const LEAST_MS = 1000;

export class CpuRate {
  #seen: { at_ms: number; time_ns: number }[] = []; // the oldest first

  /** time_ns: of all samples until now_ms. null: it is not known yet. */
  next(time_ns: number, now_ms: number): number | null {
    if (time_ns < (this.#seen.at(-1)?.time_ns ?? 0)) this.#seen = []; // cleared, or another program
    this.#seen.push({ at_ms: now_ms, time_ns });
    while (this.#seen.length > 2 && now_ms - this.#seen[1].at_ms >= WINDOW_MS) this.#seen.shift();
    const [first] = this.#seen;
    const passed_ms = now_ms - first.at_ms;
    return passed_ms < LEAST_MS ? null : (time_ns - first.time_ns) / 1e6 / passed_ms;
  }

  forget(): void {
    this.#seen = [];
  }
}
