// Arguments of events, as columns in the order of the events' serials.
import { FloatColumn, IntColumn, TextIndex } from "../columns";
import { firstThat } from "./track";

export type Value = number | string;

export class Arguments {
  readonly #texts = new TextIndex();
  readonly #event = new IntColumn();
  readonly #name = new IntColumn();
  readonly #isText = new IntColumn();
  readonly #value = new FloatColumn(); // or the number of a text

  push(event: number, name: string, value: Value): void {
    const isText = typeof value === "string";
    this.#event.push(event);
    this.#name.push(this.#texts.intern(name));
    this.#isText.push(isText ? 1 : 0);
    this.#value.push(isText ? this.#texts.intern(value) : value);
  }

  #first(event: number): number {
    return firstThat(this.#event.length, (i) => this.#event.data[i] >= event);
  }

  of(event: number): [name: string, value: Value][] {
    const { texts } = this.#texts;
    const found: [string, Value][] = [];
    for (let i = this.#first(event); this.#event.length > i && this.#event.data[i] === event; i++) {
      const value = this.#value.data[i];
      found.push([texts[this.#name.data[i]], this.#isText.data[i] ? texts[value] : value]);
    }
    return found;
  }

  /** Forgets those of events below. */
  drop(event: number): void {
    const count = this.#first(event);
    for (const column of [this.#event, this.#name, this.#isText, this.#value]) column.drop(count);
  }
}
