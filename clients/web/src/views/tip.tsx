// Words beside the pointer, on the side where there is more room.
import type { Signal } from "@preact/signals";

export interface Tip {
  x: number; // of the pointer, in the element that holds it
  y: number;
  lines: string[]; // the first is the name
}

interface Props {
  tip: Signal<Tip | null>; // a signal: what lies below is not drawn anew when the pointer moves
  width: number; // of the element
  height: number;
}

export function PointerTip({ tip: { value: tip }, width, height }: Props) {
  if (!tip) return null;
  const style: Record<string, string> = {};
  if (tip.x < width / 2) style.left = `${tip.x + 14}px`;
  else style.right = `${width - tip.x + 14}px`;
  if (tip.y <= height / 2) style.top = `${tip.y + 14}px`;
  else style.bottom = `${height - tip.y + 14}px`;
  return (
    <div class="tip" style={style} dir="auto">
      <b>{tip.lines[0]}</b>
      {tip.lines.slice(1).map((line) => (
        <div>{line}</div>
      ))}
    </div>
  );
}
