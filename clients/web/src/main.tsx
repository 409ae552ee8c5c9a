// One file for both: the page, and the worker that it starts with the same address.
import { effect } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { fromFragment, toFragment } from "./state/fragment";
import { told, useBackend } from "./state/live";
import { selection } from "./state/selection";
import { App } from "./views/app";
import { Backend } from "./worker/client";
import { type Port, serve } from "./worker/serve";

const FRAGMENT_MS = 300; // browsers refuse too many changes of the address

function keepFragment(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  selection.value = fromFragment(location.hash);
  addEventListener("hashchange", () => (selection.value = fromFragment(location.hash)));
  effect(() => {
    const fragment = toFragment(selection.value);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const url = fragment ? `#${fragment}` : location.pathname;
      history.replaceState(null, "", url);
    }, FRAGMENT_MS);
  });
}

function start(page: HTMLElement): void {
  const backend = new Backend(new Worker("app.js"), told);
  useBackend(backend);
  backend.say({ say: "connect", base: new URL(".", location.href).href });
  keepFragment();
  render(<App />, page);
}

if (typeof document === "undefined") serve(self as unknown as Port);
else start(document.getElementById("page")!);
