// Time that passes by hand: setTimeout and clearTimeout of the code under test.
export class HandClock {
  now = 0; // in ms
  late_ms = 0; // timers set from now on
  #timers = new Map<number, { at: number; run(): void }>();
  #next = 1;

  /** While act goes on, this is the clock. */
  async during(act: () => Promise<void>): Promise<void> {
    const { setTimeout, clearTimeout } = globalThis;
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms: number): number => {
        this.#timers.set(this.#next, { at: this.now + ms + this.late_ms, run });
        return this.#next++;
      },
      clearTimeout: (id: number): void => void this.#timers.delete(id),
    });
    try {
      await act();
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout });
    }
  }

  /** Goes on to that time. */
  async until(ms: number): Promise<void> {
    for (;;) {
      for (let i = 0; i < 50; i++) await Promise.resolve(); // replies come
      const [id, due] = [...this.#timers].sort(([, a], [, b]) => a.at - b.at)[0] ?? [0, null];
      if (!due || due.at > ms) break;
      this.#timers.delete(id);
      this.now = due.at;
      due.run();
    }
    this.now = ms;
  }

  /** Timers that are set. */
  get waiting(): number {
    return this.#timers.size;
  }
}
