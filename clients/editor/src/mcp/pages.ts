// Answers in pages: as many rows as the budget has room for, and a cursor to the next ones.
//
// What a cursor goes on with is kept, so a profile that grows changes no answer in the middle. Cursors are made of what
// they go on with: the same question about the same samples has the same ones.
import { createHash } from "node:crypto";
import { Problem } from "../core/problem";
import { type Answer, jsonText, MARK } from "./facts/answer";

export const BUDGET = 2000; // tokens
export const BUDGET_MOST = 6000;
const TOKEN_BYTES = 4; // what a token is taken to be, of the message as it is sent
const KEPT_MOST = 16;

interface Kept {
  tool: string;
  answer: Answer;
}

export class Pages {
  #kept = new Map<string, Kept>();

  first(tool: string, answer: Answer, budget: number): string {
    const text = jsonText([tool, answer.facts, answer.unsure, answer.columns, answer.rows]);
    const key = createHash("sha256").update(text).digest("hex").slice(0, 16);
    this.#kept.delete(key);
    this.#kept.set(key, { tool, answer });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MOST) break;
      this.#kept.delete(oldest);
    }
    return page(tool, answer, key, 0, budget);
  }

  next(tool: string, cursor: string, budget: number): string {
    const [, key = "", from = ""] = /^([0-9a-f]{16})-(\d{1,9})$/.exec(cursor) ?? [];
    const kept = this.#kept.get(key);
    const hint = "ask again without cursor";
    if (!key) throw new Problem(`cursor: this is none that an answer of ${tool} had as next_cursor; ${hint}`);
    if (!kept) throw new Problem(`cursor: its answer is no longer kept; ${hint}`);
    if (kept.tool !== tool) throw new Problem(`cursor: it belongs to ${kept.tool}, not to ${tool}`);
    if (Number(from) >= kept.answer.rows.length) throw new Problem(`cursor: there are no more rows; ${hint}`);
    return page(tool, kept.answer, key, Number(from), budget);
  }
}

/** Throws a Problem for one that is none. */
export function checkedBudget(budget = BUDGET): number {
  if (budget >= 1 && budget <= BUDGET_MOST) return budget;
  throw new Problem(`budget: ${budget} tokens; it is from 1 to ${BUDGET_MOST}, by default ${BUDGET}`);
}

function page(tool: string, answer: Answer, key: string, from: number, budget: number): string {
  const { rows } = answer;
  const write = (to: number) => {
    const more = to < rows.length ? { next_cursor: `${key}-${to}` } : {};
    const told = from === 0 ? { facts: answer.facts, ...(answer.unsure.length && { unsure: answer.unsure }) } : {};
    const table = rows.length && {
      columns: answer.columns,
      rows: rows.slice(from, to),
      rows_before: from,
      rows_in_all: rows.length,
    };
    return jsonText({ tool, about: MARK, ...told, ...table, ...more });
  };
  const fits = (to: number) => sizeOf(write(to)) <= budget * TOKEN_BYTES;
  const least = Math.min(from + 1, rows.length);
  if (!fits(least)) {
    const needed = Math.ceil(sizeOf(write(least)) / TOKEN_BYTES);
    throw new Problem(`budget: ${budget} tokens have no room for this answer; it needs at least ${needed}`);
  }
  let [lower, upper] = [least, rows.length]; // lower fits
  while (lower < upper) {
    const middle = Math.ceil((lower + upper) / 2);
    if (fits(middle)) lower = middle;
    else upper = middle - 1;
  }
  return write(lower);
}

/** Of a text in a message. */
const sizeOf = (text: string) => Buffer.byteLength(JSON.stringify(text));
