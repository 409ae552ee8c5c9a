// Starts the page that holds all of itself. Its files stand in it, each as gzip in base64. Modules become data
// addresses, and those of what they import are put into them: a worker of a page from file:// can load no other.
async function file(name) {
  const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** urls: of the files that it imports, by name. */
async function module(name, urls) {
  let text = await file(name);
  for (const [other, url] of Object.entries(urls)) text = text.replaceAll(`"./${other}"`, `"${url}"`);
  const reader = new FileReader();
  reader.readAsDataURL(new Blob([text], { type: "text/javascript;charset=utf-8" }));
  await new Promise((done) => (reader.onload = done));
  return reader.result;
}

async function start() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await file("app.css"));
  document.adoptedStyleSheets = [sheet];
  const chunk = await module("chunk.js", {});
  const later = await module("later.js", { "chunk.js": chunk });
  await import(await module("app.js", { "chunk.js": chunk, "later.js": later }));
}

start().catch((error) => {
  document.getElementById("page").textContent = `This browser is too old for this page: ${error.message}`;
});
