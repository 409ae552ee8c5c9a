// A canvas of a size in CSS pixels, sharp on every screen.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CanvasHTMLAttributes } from "preact";

interface Props extends CanvasHTMLAttributes<HTMLCanvasElement> {
  pixels: [number, number]; // width and height
  of: unknown[]; // what is drawn: it is drawn anew when one of them is another one
  draw(context: CanvasRenderingContext2D): void;
}

export function Canvas({ pixels: [width, height], of, draw, ...rest }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !width || !height) return;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    draw(context);
  }, [width, height, ...of]);
  return <canvas {...rest} ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />;
}
