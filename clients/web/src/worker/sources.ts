// Whose samples are shown: the service's, or those of a file; and the file that they are compared with.
import type { Profile } from "../data/profile";
import type { Stalls } from "../data/stalls/stalls";
import type { Events } from "../data/timeline/events";
import { Answers } from "./answers";
import type { OpenedFile as ReadFile } from "../data/files/open";
import type { SamplesKind } from "../wire/protocol";
import type { Files, FileUse, OpenedFile, WholeFile } from "./messages";

interface Opened {
  texts: ReadonlyMap<string, string>;
  bytes: Uint8Array<ArrayBuffer>;
  answers: ReadonlyMap<SamplesKind, Answers>; // one of what is shown time is always there
  file: OpenedFile;
}

export class Sources {
  kind: SamplesKind = "time"; // that is wanted of a file, where it has it
  #live: Answers;
  #opened: Record<FileUse, Opened | null> = { shown: null, compared: null };

  constructor(profile: Profile) {
    this.#live = new Answers(profile);
  }

  /** The service's samples, events or stalls grew, or are others. */
  liveChanged(profile: Profile, events: Events | null, stalls: Stalls | null): void {
    const { profile: samples, events: told, stalls: late } = this.#live;
    if (profile === samples && events === told && stalls === late) this.#live.changed();
    else this.#live = new Answers(profile, events, stalls);
  }

  get isLive(): boolean {
    return this.#opened.shown === null;
  }

  get shown(): Answers {
    const { shown, compared } = this.#opened;
    const answers = shown ? (shown.answers.get(this.kind) ?? shown.answers.get("time")!) : this.#live;
    answers.other = compared?.answers.get(answers.profile.kind) ?? null; // bytes are no time
    return answers;
  }

  /** Of the file that is shown: kinds of samples that it has, besides time. */
  get kinds(): SamplesKind[] {
    return [...this.#opened.shown!.answers.keys()].filter((kind) => kind !== "time");
  }

  get files(): Files {
    const { shown, compared } = this.#opened;
    return { shown: shown && shown.file, compared: compared && compared.file };
  }

  /** null: the service's samples are shown. */
  whole(): WholeFile | null {
    const { shown } = this.#opened;
    if (!shown) return null;
    const { name, session } = shown.file;
    return { name, isSession: session !== null, bytes: shown.bytes.slice() }; // an answer is moved
  }

  /** Of the file that is shown, the text of a source file; null: it has none. */
  text(file: string): string | null {
    return this.#opened.shown?.texts.get(file) ?? null;
  }

  open(as: FileUse, name: string, bytes: Uint8Array<ArrayBuffer>, read: ReadFile): void {
    const { form, profile, kinds = new Map<SamplesKind, Profile>(), timeless, session, texts = new Map(), events, stalls } = read;
    const file = { name, form, timeless, session, samples: profile.samples.length };
    const answers = new Map<SamplesKind, Answers>([["time", new Answers(profile, events, stalls)]]);
    for (const [kind, one] of kinds) answers.set(kind, new Answers(one));
    this.#opened[as] = { answers, file, bytes, texts };
  }

  /** The service's samples, to compare with later ones. */
  keep(profile: Profile, name: string): void {
    const file = { name, form: "kept", timeless: true, session: null, samples: profile.samples.length };
    const answers = new Map([[profile.kind, new Answers(profile)]]);
    this.#opened.compared = { answers, file, bytes: new Uint8Array(0), texts: new Map() };
  }

  close(as: FileUse): void {
    this.#opened[as] = null;
  }
}
