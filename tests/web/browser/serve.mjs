// A folder as a page, for programs of others that run in one.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
};

/** A folder at a port of its own. */
export function serve(folder) {
  return new Promise((resolve) => {
    const server = createServer((request, response) => {
      try {
        const path = new URL(request.url, "http://x").pathname;
        const content = readFileSync(join(folder, path.endsWith("/") ? `${path}index.html` : path));
        response.setHeader(
          "Content-Type",
          TYPES[extname(path) || ".html"] ?? "application/octet-stream",
        );
        response.end(content);
      } catch {
        response.statusCode = 404;
        response.end();
      }
    });
    server.listen(0, "127.0.0.1", () =>
      resolve({
        uri: `http://127.0.0.1:${server.address().port}/`,
        end: () => new Promise((done) => server.close(done).closeAllConnections()),
      }),
    );
  });
}
