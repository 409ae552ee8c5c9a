// Tab reaches one of a row of controls, the one that was used last; arrows go to its neighbours.
import { useEffect, useRef } from "preact/hooks";

type Control = HTMLButtonElement | HTMLSelectElement;

/** Where a key leads to from number now: arrows as they are called to the next one and back, Home and End. */
export function steppedTo<T>(all: T[], now: number, key: string, next: string, back: string): T | undefined {
  const to: Record<string, number> = {
    [next]: (now + 1) % all.length,
    [back]: (now - 1 + all.length) % all.length,
    Home: 0,
    End: all.length - 1,
  };
  return all[to[key]];
}

/** follows: what arrows lead to is pressed as well, as tabs are. */
export function useRoving(follows = false) {
  const row = useRef<HTMLDivElement>(null);
  const last = useRef<Control | null>(null);
  const controls = () =>
    [...(row.current?.querySelectorAll<Control>("button, select") ?? [])].filter(
      ({ disabled }) => !disabled,
    );
  const settle = () => {
    const all = controls();
    const isPressed = (one: Control) => one.ariaSelected === "true";
    const one = follows ? all.find(isPressed) : all.find((control) => control === last.current);
    const reached = one ?? all[0];
    for (const control of all) control.tabIndex = control === reached ? 0 : -1;
  };
  useEffect(settle);
  return {
    ref: row,
    onFocusIn(event: FocusEvent) {
      last.current = event.target as Control;
      settle();
    },
    onKeyDown(event: KeyboardEvent) {
      const all = controls();
      const now = all.indexOf(event.target as Control);
      const next = steppedTo(all, now, event.key, "ArrowRight", "ArrowLeft");
      if (now < 0 || !next || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      next.focus();
      if (follows) next.click();
    },
  };
}
