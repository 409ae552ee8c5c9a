// Members of JSON that somebody else wrote: what is missing or of another kind is named.
import { BadFile } from "./builder";

export type Json = Record<string, unknown>;

export function record(what: string, value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadFile(`${what} is not an object`);
  return value as Json;
}

export function list(what: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new BadFile(`${what} is not a list`);
  return value;
}

export function numberOf(what: string, value: unknown): number {
  if (typeof value !== "number") throw new BadFile(`${what} is not a number`);
  return value;
}

/** "" where there is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
