// Which service is shown where the user named none: the one that runs. Of several he is asked.
import { type Found, findServices } from "../core/find";

const LOOK_MS = 1000;
const ANSWER_MS = 2000;

export interface FinderEvents {
  /** There is nothing to show, or what was shown has ended. */
  isWanted(): boolean;
  found(one: Found): Promise<void>;
  /** null: nobody answered, or none of them. */
  choose(all: readonly Found[]): Promise<Found | null>;
}

export class Finder {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refused = new Set<string>(); // that the user did not want, or that were shown already
  #isOver = false;

  constructor(
    private readonly roots: readonly string[],
    private readonly events: FinderEvents,
  ) {}

  start(): void {
    void this.#look().finally(() => {
      if (!this.#isOver) this.#timer = setTimeout(() => this.start(), LOOK_MS);
    });
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** That it shall not be found any more: it is shown. */
  known(base: string): void {
    this.#refused.add(base);
  }

  /** Those that answer now. */
  async alive(): Promise<Found[]> {
    const all = findServices(this.roots);
    const answers = await Promise.all(all.map(({ base }) => doesAnswer(base)));
    return all.filter((_, i) => answers[i]);
  }

  async #look(): Promise<void> {
    if (!this.events.isWanted()) return;
    const all = (await this.alive()).filter(({ base }) => !this.#refused.has(base));
    if (!all.length || !this.events.isWanted()) return;
    const one = all.length === 1 ? all[0] : await this.events.choose(all);
    for (const { base } of all) this.#refused.add(base);
    if (one && !this.#isOver) await this.events.found(one);
  }
}

async function doesAnswer(base: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL("getVersion", base), { signal: AbortSignal.timeout(ANSWER_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}
