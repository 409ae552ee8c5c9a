// Profiles that are open: each is followed while it is asked about, and closed a while after.
import { LiveProfile } from "../../core/live_profile";
import { type Opened, openSource } from "../../core/open";
import { Problem } from "../../core/problem";
import type { Source } from "./sources";

const OPEN_MOST = 4;
const IDLE_MS = 120_000;
const SYMBOLS_MS = 5000;
const LOOK_MS = 30;

interface Held {
  where: string;
  opened: Promise<Opened>;
  timer: NodeJS.Timeout | null;
}

export interface Current {
  profile: LiveProfile;
  unsure: string[]; // what came of it meanwhile
}

export class OpenSources {
  #held = new Map<string, Held>(); // by id, the latest used last

  /** All that there is by now. Throws a Problem. */
  async use(source: Source): Promise<Current> {
    const before = this.#held.get(source.id);
    const isOther = before !== undefined && before.where !== source.where;
    if (isOther) await this.#close(source.id);
    const held = this.#hold(source);
    try {
      const { profile } = await held.opened;
      if (profile.link.state === "open" || !profile.info) await profile.ready();
      await profile.refresh();
      await named(profile);
      return { profile, unsure: [...(isOther ? ["this is another run than the last answer's"] : []), ...lost(profile)] };
    } catch (error) {
      await this.#close(source.id);
      throw error;
    } finally {
      this.#idle(source.id, held);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((id) => this.#close(id)));
  }

  #hold(source: Source): Held {
    const { id, where } = source;
    const held = this.#held.get(id) ?? { where, opened: openSource(where), timer: null };
    if (held.timer) clearTimeout(held.timer);
    held.timer = null;
    this.#held.delete(id);
    this.#held.set(id, held);
    const [oldest] = this.#held.keys();
    if (this.#held.size > OPEN_MOST) void this.#close(oldest);
    return held;
  }

  #idle(id: string, held: Held): void {
    if (this.#held.get(id) !== held) return;
    held.timer = setTimeout(() => void this.#close(id), IDLE_MS);
    held.timer.unref();
  }

  async #close(id: string): Promise<void> {
    const held = this.#held.get(id);
    this.#held.delete(id);
    if (held?.timer) clearTimeout(held.timer);
    await held?.opened.then(({ close }) => close()).catch(() => {}); // what was never open needs no end
  }
}

/** Names come later than samples: an answer waits for them, for a while. */
async function named(profile: LiveProfile): Promise<void> {
  const deadline = Date.now() + SYMBOLS_MS;
  while (isNaming(profile) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await profile.refresh();
  }
}

const isNaming = ({ info }: LiveProfile) => info !== null && info.symbols.done < info.symbols.asked;

function lost(profile: LiveProfile): string[] {
  const names = isNaming(profile) ? ["some names are not read yet: ask again for them"] : [];
  if (profile.link.state === "open") return names;
  if (!profile.answers.profile.samples.length) throw new Problem(profile.trouble() || "the service does not answer");
  return [...names, "the service does not answer any more: this is what it had told until then"];
}
