// Words beside the pointer, one for the whole page: what is below tells it, and takes it away.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Tip {
  x: number; // of the pointer, in the window
  y: number;
  lines: string[]; // the first is the name
}

/** A signal: what lies below is not drawn anew when the pointer moves. */
export const tip = signal<Tip | null>(null);

const AWAY_PX = 14; // from the pointer
const EDGE_PX = 4;

/** Right of the pointer and below it; where there is no room, on the other side. */
function beside(at: number, size: number, end: number): number {
  const after = at + AWAY_PX;
  return after + size <= end - EDGE_PX ? after : Math.max(EDGE_PX, at - AWAY_PX - size);
}

export function PageTip() {
  const box = useRef<HTMLDivElement>(null);
  const { value } = tip;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !value) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${beside(value.x, width, innerWidth)}px`;
    element.style.top = `${beside(value.y, height, innerHeight)}px`;
  }, [value]);
  if (!value) return null;
  return (
    <div class="tip" ref={box} dir="auto">
      <b>{value.lines[0]}</b>
      {value.lines.slice(1).map((line) => (
        <div>{line}</div>
      ))}
    </div>
  );
}
