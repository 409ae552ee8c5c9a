// The samples of one kind, as the service tells them.
import { KINDS } from "../data/kinds";
import type { Profile } from "../data/profile";
import { TableReader } from "../data/table_form";
import { Follower, samplesOf } from "../wire/follow";
import type { SamplesKind, SamplesTable } from "../wire/protocol";

// Of 36 bytes each. The service keeps fewer; this bounds a page that is open for days.
const SAMPLES_KEPT = 4_000_000;

export class Store {
  readonly reader: TableReader;
  readonly follower: Follower;
  hasCome = false; // all that there was at first: until then nothing can be said of it
  isWhole = false; // there was no more at the last reply
  #held = false;
  #waiting: SamplesTable[] = []; // what came meanwhile

  /** came: behind each reply; more: there are more already. */
  constructor(
    readonly kind: SamplesKind,
    private readonly came: (more: boolean) => void,
  ) {
    this.reader = new TableReader(kind);
    this.follower = new Follower((table, more) => this.#take(table, more), samplesOf(kind === "time" ? undefined : kind));
  }

  /** What is of the moment is no more once the next one is there: a view that is held waits with that. */
  hold(on: boolean): void {
    this.#held = on && KINDS[this.kind].isMoment;
    if (!this.#held) for (const table of this.#waiting.splice(0)) this.#add(table, this.#waiting.length > 0);
  }

  /** What is there, to be kept by somebody else: it begins anew. */
  release(): Profile {
    const { profile } = this.reader;
    this.hasCome = false;
    this.#waiting = [];
    this.reader.forget();
    this.follower.stop(true);
    return profile;
  }

  #take(table: SamplesTable, more: boolean): void {
    if (!this.#held) return this.#add(table, more);
    if (table.reset) this.#waiting = [];
    this.#waiting.push(table);
  }

  #add(table: SamplesTable, more: boolean): void {
    this.reader.add(table);
    this.reader.keep(SAMPLES_KEPT);
    this.isWhole = !more;
    this.hasCome ||= !more;
    this.came(more);
  }
}
