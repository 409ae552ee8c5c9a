// One file for both: the page, and the worker that it starts with the same address. Both load the second one.
import { render } from "preact";
import "./style.css";
import "./room.css";
import "./views.css";
// The bundle has its modules in this order: the worker's stand together, and pack 1 KB smaller.
import { type Port, serve } from "./worker/serve";
import { Backend } from "./worker/client";
import { keepHistory } from "./state/history";
import { told, useBackend } from "./state/live";
import { keepRoom, room } from "./state/room";
import { openServed } from "./views/files/drop";
import { App } from "./views/frame/app";
import { keepLater } from "./views/frame/later";
import { keepTabSign } from "./views/frame/tab_sign";
import { theme } from "./views/parts/colours";

function start(page: HTMLElement): void {
  const backend = new Backend(new Worker("app.js", { type: "module" }), told);
  useBackend(backend);
  const { file } = page.dataset;
  if (file) void openServed(file);
  else backend.say({ say: "connect", base: new URL(".", location.href).href });
  keepHistory();
  keepRoom();
  keepTabSign();
  const kept = room.value.theme;
  if (kept === "light" || kept === "dark") theme.value = kept;
  render(<App />, page);
  keepLater(later);
}

const later = () => import("./later");

if (typeof document === "undefined") serve(self as unknown as Port, later);
else start(document.getElementById("page")!);
