// The size of an element, in CSS pixels, again whenever it changes.
import { type RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export function useSize(element: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const one = element.current;
    if (!one) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: one.clientWidth, height: one.clientHeight }),
    );
    observer.observe(one);
    return () => observer.disconnect();
  }, []);
  return size;
}
