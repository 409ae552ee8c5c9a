// `isoscope view`: a file in the page, and no service.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { openBrowser } from "./recording.mjs";
import { busy, ROOT, until } from "./service.mjs";
import { Visit } from "./visit.mjs";

const ISOSCOPE = join(resolve(process.env.ISOSCOPE_BUILD ?? join(ROOT, "build")), "bin/isoscope");
const folder = mkdtempSync(join(tmpdir(), "isoscope-view-"));
const { browser } = await openBrowser();
after(() => rmSync(folder, { recursive: true }));

/** Gives the page's address to act; ends `isoscope view` by its Ctrl-C. */
async function viewed(words, act) {
  const environment = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "", BROWSER: "" };
  const view = spawn(ISOSCOPE, ["view", ...words], { env: environment });
  let said = "";
  view.stdout.on("data", (text) => (said += text));
  view.stderr.on("data", (text) => (said += text));
  const address = await until(() => {
    assert.equal(view.exitCode, null, said);
    return /http:\/\/127\.0\.0\.1:\d+\/[\w-]+=\/$/m.exec(said)?.[0];
  }, "an address");
  try {
    await act(address);
  } finally {
    view.kill("SIGINT");
    await until(() => view.exitCode !== null || view.signalCode !== null, "the end of view");
  }
  return view.exitCode;
}

test("a file is shown as soon as the page is there, and asks for no service", async () => {
  const file = join(folder, 'a "b" <c>.folded');
  writeFileSync(file, "main;parse;lex 30\nmain;walk 10\n");
  const status = await viewed([file], async (address) => {
    const visit = await Visit.of(browser, address);
    const sockets = [];
    visit.page.on("websocket", (socket) => sockets.push(socket.url()));
    await visit.exactly(40);
    const banner = await visit.text(".banner");
    assert.ok(banner.includes('a "b" <c>.folded'), banner);
    assert.equal(await visit.button("Back to the program").count(), 0);
    assert.deepEqual(sockets, []);
    await visit.page.reload();
    await visit.exactly(40);
    await visit.picture("view-file");
    await visit.close();
  });
  assert.equal(status, 0);
});

test("what a command did is shown with its threads, when it has ended", async () => {
  await viewed(["--", ...busy(1)], async (address) => {
    const visit = await Visit.of(browser, address);
    await visit.moreThan(20);
    assert.match(await visit.text(".banner"), /stdlib_parse/);
    assert.match(await visit.text(".overview"), /python3/);
    await visit.close();
  });
});

test("without the token there is nothing, nor under another host's name", async () => {
  const file = join(folder, "one.folded");
  writeFileSync(file, "main 3\n");
  await viewed([file], async (address) => {
    const { origin, hostname, port, pathname } = new URL(address);
    for (const path of ["/", "/profile", "/x=/profile"]) {
      const { status } = await fetch(origin + path);
      assert.equal(status, 403, path);
    }
    assert.equal((await fetch(`${address}profile`)).status, 200);
    const foreign = { host: hostname, port, path: pathname, headers: { Host: `evil.example:${port}` } };
    assert.equal(await new Promise((done) => get(foreign, (reply) => done(reply.resume().statusCode))), 404);
    assert.equal((await fetch(`${address}../profile`)).status, 403);
    const answer = await fetch(address);
    assert.match(answer.headers.get("content-security-policy"), /default-src 'none'/);
  });
});
