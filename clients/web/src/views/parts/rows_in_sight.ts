// A long list of rows of one height, of which only those in sight are elements.
import { useRef, useState } from "preact/hooks";
import { useSize } from "./use_size";

export const ROW_PX = 20;

export type RowsInSight = ReturnType<typeof useRowsInSight>;

/** beyond: rows above and below those in sight. */
export function useRowsInSight(count: number, row_px = ROW_PX, beyond = 8) {
  const body = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(body);
  const [top, setTop] = useState(0);
  const page = Math.max(1, Math.floor(height / row_px) - 1); // rows that a page key moves by
  return {
    body,
    width,
    height,
    first: Math.max(0, Math.floor(top / row_px) - beyond),
    last: Math.min(count, Math.ceil((top + height) / row_px) + beyond),
    onScroll: (event: Event) => setTop((event.currentTarget as Element).scrollTop),
    /** Goes from a row to where the key leads. False: it is none of those that move. */
    onKey(event: KeyboardEvent, at: number, go: (index: number) => void): boolean {
      if (event.ctrlKey || event.altKey || event.metaKey) return false;
      const next = rowAfter(event.key, at, count, page);
      if (next === null || !count) return false;
      event.preventDefault();
      go(next);
      return true;
    },
    /** Scrolls as little as it can. */
    reveal(index: number): void {
      const element = body.current;
      if (!element) return;
      const y = index * row_px;
      if (y < element.scrollTop) element.scrollTop = y;
      else if (y + row_px > element.scrollTop + element.clientHeight)
        element.scrollTop = y + row_px - element.clientHeight;
    },
    /** To the middle of what is seen. */
    centre(index: number): void {
      const element = body.current;
      if (element) element.scrollTop = index * row_px - element.clientHeight / 2;
    },
  };
}

/** Where a key of those that move in a list leads; null: it is none of them. */
export function rowAfter(key: string, at: number, count: number, page: number): number | null {
  const wanted: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  };
  if (!(key in wanted)) return null;
  return Math.max(0, Math.min(count - 1, wanted[key]));
}
