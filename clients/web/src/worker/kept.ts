// The few values that were made last, by key.
export class Kept<T> {
  #values = new Map<string, T>();

  constructor(private readonly most: number) {}

  get(key: string, make: () => T): T {
    const known = this.#values.get(key);
    const value = known === undefined ? make() : known;
    this.#values.delete(key); // to the end: a Map keeps the order of insertion
    this.#values.set(key, value);
    if (this.#values.size > this.most) this.#values.delete(this.#values.keys().next().value!);
    return value;
  }

  clear(): void {
    this.#values.clear();
  }
}
