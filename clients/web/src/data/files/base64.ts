// Bytes as base64, and back: browsers' own functions are for texts.

const PIECE = 0x6000; // a multiple of 3; fewer than arguments are allowed

export function toBase64(bytes: Uint8Array): string {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += PIECE)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  return pieces.join("");
}

/** Throws where it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = signs.charCodeAt(i);
  return bytes;
}
