// A menu over the page: arrows, Home and End go through it, Esc and a press elsewhere close it.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { steppedTo } from "./roving";

export interface MenuItem {
  text: string;
  keys?: string; // that do the same without it
  checked?: boolean; // one of several
  act: (() => void) | null; // null: not now
}

interface Props {
  at: { x: number; y: number }; // in the window
  label: string;
  items: (MenuItem | null)[]; // null: a line between
  close(): void;
}

const EDGE_PX = 4; // to the window's edges, at least

/** Within the window, with the focus in its first item; a press elsewhere closes it, and the focus goes back. */
function useOpened(menu: RefObject<HTMLDivElement | null>, { at, close }: Props): void {
  useLayoutEffect(() => {
    const element = menu.current!;
    const before = document.activeElement as HTMLElement | null;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(EDGE_PX, Math.min(at.x, innerWidth - width - EDGE_PX))}px`;
    element.style.top = `${Math.max(EDGE_PX, Math.min(at.y, innerHeight - height - EDGE_PX))}px`;
    itemsOf(element)[0]?.focus();
    const press = (event: Event) => {
      if (!element.contains(event.target as Node)) close();
    };
    document.addEventListener("pointerdown", press, true);
    document.addEventListener("wheel", press, true);
    addEventListener("resize", close);
    return () => {
      document.removeEventListener("pointerdown", press, true);
      document.removeEventListener("wheel", press, true);
      removeEventListener("resize", close);
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, [at]);
}

function itemsOf(menu: HTMLElement): HTMLButtonElement[] {
  return [...menu.querySelectorAll("button")].filter(({ disabled }) => !disabled);
}

function Item({ item, close }: { item: MenuItem; close(): void }) {
  return (
    <button
      role={item.checked === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={item.checked}
      tabIndex={-1}
      disabled={!item.act}
      onClick={() => {
        close();
        item.act?.();
      }}
    >
      <span>
        {item.checked && "✓ "}
        {item.text}
      </span>
      {item.keys && <kbd>{item.keys}</kbd>}
    </button>
  );
}

export function Menu(props: Props) {
  const { label, items, close } = props;
  const menu = useRef<HTMLDivElement>(null);
  useOpened(menu, props);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === " ") return event.stopPropagation();
    const all = itemsOf(menu.current!);
    const now = all.indexOf(document.activeElement as HTMLButtonElement);
    const next = steppedTo(all, now, event.key, "ArrowDown", "ArrowUp");
    if (next) next.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="menu"
      role="menu"
      aria-label={label}
      ref={menu}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => event.preventDefault()}
    >
      {items.map((item) => (item ? <Item item={item} close={close} /> : <hr />))}
    </div>
  );
}
