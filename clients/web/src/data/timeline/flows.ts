// Ways from slice to slice: each piece of a flow goes from one of its points to the next. And what begins on one
// thread and ends on another. Rings are read one after another, so an end may come before its begin.
//
// Units  Nanoseconds since the timeline's origin.

export interface Point {
  thread: number; // of the timeline's
  time: number;
}

export interface Piece {
  from: Point;
  to: Point;
  label: number;
}

interface Known {
  last: Point;
  begun: boolean;
  ended: boolean;
}

export type FlowStep = "FlowBegin" | "FlowStep" | "FlowEnd";

const BLOCK = 512; // pieces, of which it is known when they are

export class Flows {
  #pieces: Piece[] = [];
  #blocks: [from: number, to: number][] = [];
  #known = new Map<string, Known>(); // by what is the same in all points of a flow

  get length(): number {
    return this.#pieces.length;
  }

  add(key: string, kind: FlowStep, point: Point, label: number): void {
    const known = this.#known.get(key);
    const begun = kind === "FlowBegin" || (known?.begun ?? false);
    const ended = kind === "FlowEnd" || (known?.ended ?? false);
    let last = point;
    if (known) {
      const isLater = point.time >= known.last.time;
      const [from, to] = isLater ? [known.last, point] : [point, known.last];
      this.#push({ from, to, label });
      last = to;
    }
    if (begun && ended) this.#known.delete(key);
    else this.#known.set(key, { last, begun, ended });
  }

  #push(piece: Piece): void {
    const at = Math.floor((this.#pieces.push(piece) - 1) / BLOCK);
    const [from, to] = (this.#blocks[at] ??= [Infinity, -Infinity]);
    this.#blocks[at] = [Math.min(from, piece.from.time), Math.max(to, piece.to.time)];
  }

  /** Those that overlap [from, to); null: there are more than most. */
  in(from: number, to: number, most: number): Piece[] | null {
    const found: Piece[] = [];
    for (let block = 0; block < this.#blocks.length; block++) {
      if (this.#blocks[block][0] >= to || this.#blocks[block][1] < from) continue;
      for (const piece of this.#pieces.slice(block * BLOCK, (block + 1) * BLOCK))
        if (piece.from.time < to && piece.to.time >= from && found.push(piece) > most) return null;
    }
    return found;
  }

  drop(before: number): void {
    const kept = this.#pieces.filter(({ to }) => to.time >= before);
    this.#pieces = [];
    this.#blocks = [];
    for (const piece of kept) this.#push(piece);
  }
}
