// One file for both: the page, and the worker that it starts with the same address. Both load the second one.
import { render } from "preact";
import "./style.css";
import "./room.css";
import "./views.css";
// The bundle has its modules in this order: the worker's stand together, and pack 1 KB smaller.
import { type Port, serve } from "./worker/serve";
import { Backend } from "./worker/client";
import { keepHistory } from "./state/history";
import { keepKind } from "./state/kind";
import { told, useBackend } from "./state/live";
import { keepRoom, room } from "./state/room";
import { openBeside } from "./views/files/drop";
import { App } from "./views/frame/app";
import { keepLater } from "./views/frame/later";
import { keepTabSign } from "./views/frame/tab_sign";
import { theme } from "./views/parts/colours";

function start(page: HTMLElement): void {
  // Its own address: in a page that holds all of itself it has no other.
  const backend = new Backend(new Worker(import.meta.url, { type: "module" }), told);
  useBackend(backend);
  const { file, look } = page.dataset;
  if (look && !location.hash) history.replaceState(null, "", look);
  if (file) void openBeside(file);
  else backend.say({ say: "connect", base: new URL(".", location.href).href });
  keepHistory();
  keepKind();
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
