// The one page to share: what is in it comes from the service that sent this page, or from this page itself, where
// it is one.
import { fragmentNow } from "../../state/history";
import { fromBase64, toBase64 } from "../../data/files/base64";
import { onePage, type Parts, PARTS } from "../../data/files/one_page";

type Bytes = Uint8Array<ArrayBuffer>;

function through(bytes: Bytes, stream: GenericTransformStream): Promise<ArrayBuffer> {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
}

async function zipped(bytes: Bytes): Promise<string> {
  return toBase64(new Uint8Array(await through(bytes, new CompressionStream("gzip"))));
}

async function part(name: string): Promise<string> {
  const held = document.getElementById(name)?.textContent;
  if (held) return held;
  const answer = await fetch(name).catch(() => null);
  if (!answer?.ok) throw new Error(`the service does not send ${name}: is it gone?`);
  return zipped(new Uint8Array(await answer.arrayBuffer()));
}

/** file: the profile's name; bytes: its file, in any form that the page opens. Opens at what is seen now. */
export async function sharedPage(file: string, bytes: Bytes): Promise<string> {
  const list = await Promise.all(PARTS.map(async (name) => [name, await part(name)]));
  const parts = Object.fromEntries(list) as Parts;
  const page = await through(fromBase64(parts["one_page.html"]), new DecompressionStream("gzip"));
  const held = { file, look: fragmentNow(), profile: toBase64(bytes) };
  return onePage(new TextDecoder().decode(page), parts, held);
}
