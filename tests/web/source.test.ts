import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rpc } from "../../clients/web/src/wire/rpc";
import { readSource } from "../../clients/web/src/wire/source";

const VM = {
  isolates: [
    { id: "isolates/7", _pid: 7 },
    { id: "isolates/9", _pid: 7, _tid: 9 },
  ],
  _endedIsolates: [{ id: "isolates/8", _pid: 8 }],
};

/** scripts: by isolate, id and URI. A source undefined: a file that may not be read. */
function service(scripts: Record<string, [string, string][]>, source?: string): Rpc {
  const call = async (method: string, params: { isolateId?: string; objectId?: string }) => {
    if (method === "getVM") return VM;
    const listed = scripts[params.isolateId!];
    if (!listed) return { type: "Sentinel" };
    if (method === "getScripts")
      return { type: "ScriptList", scripts: listed.map(([id, uri]) => ({ id, uri })) };
    assert.ok(listed.some(([id]) => id === params.objectId));
    return { type: "Script", source: source && `${params.objectId}: ${source}` };
  };
  return { call } as unknown as Rpc;
}

test("a file is found by the end of its script's address, in whichever process has it", async () => {
  const rpc = service(
    {
      "isolates/8": [
        ["s1", "package:app/src/b.c"],
        ["s2", "package:app/src/a.c"],
      ],
    },
    "x",
  );
  assert.equal(await readSource(rpc, "/src/a.c"), "s2: x");
});

test("a compiler's way to a file is not in its address", async () => {
  const rpc = service({ "isolates/7": [["s1", "package:app/Objects/x.c"]] }, "x");
  assert.equal(await readSource(rpc, "./build/../Objects/x.c"), "s1: x");
});

test("what is escaped in an address is found by its plain name", async () => {
  const rpc = service({ "isolates/7": [["s1", "package:app/home/c%2B%2B/100%25%20a.cpp"]] }, "x");
  assert.equal(await readSource(rpc, "/home/c++/100% a.cpp"), "s1: x");
});

test("a file with the same end of its name is another one", async () => {
  const rpc = service({ "isolates/7": [["s1", "package:app/src/xa.c"]] }, "x");
  assert.equal(await readSource(rpc, "a.c"), null);
});

test("a file that the service may not read has no text", async () => {
  const rpc = service({ "isolates/7": [["s1", "package:app/src/a.c"]] });
  assert.equal(await readSource(rpc, "/src/a.c"), null);
});
