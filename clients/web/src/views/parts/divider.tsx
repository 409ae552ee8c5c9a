// The edge between two panes: dragged, or moved by arrows; a double click gives it back its first place.

const STEP_PX = 20; // for a key

interface Props {
  along: "x" | "y"; // which way it moves
  grows: 1 | -1; // what its pane does when it is moved right or down
  size: number; // of the pane, CSS pixels
  least: number;
  most: number;
  label: string;
  resize(size: number): void;
  reset(): void;
}

export function Divider({ along, grows, size, least, most, label, resize, reset }: Props) {
  const to = (wanted: number) => resize(Math.round(Math.max(least, Math.min(most, wanted))));
  const at = (event: PointerEvent) => (along === "x" ? event.clientX : event.clientY);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault(); // or text is selected
    const element = event.currentTarget as HTMLElement;
    const start = at(event);
    element.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent) => to(size + grows * (at(next) - start));
    const end = () => element.removeEventListener("pointermove", move);
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", end, { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [back, forth] = along === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key !== back && event.key !== forth) return;
    event.preventDefault();
    to(size + grows * (event.key === forth ? STEP_PX : -STEP_PX));
  };
  return (
    <div
      class={`divider along-${along}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={along === "x" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(size)}
      aria-valuemin={least}
      aria-valuemax={Math.round(most)}
      title={`${label}: drag, or arrow keys; double click: as at first`}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={reset}
    />
  );
}
