/** The built pages with the mock behind them, on a clock that stands still: the same picture each time. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

export const NOW = Date.parse("2026-01-15T12:00:00Z");

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** From here on this process has one moment, and numbers that repeat. */
function stopTheClock() {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) {
      super(...(given.length === 0 ? [NOW] : given));
    }
    static now() {
      return NOW;
    }
  };
  let state = 1;
  Math.random = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

/** Serves `dist`, and for each kind of fleet an API of its own; returns the address by kind, and what ends it. */
export async function serve(dist, kinds) {
  stopTheClock();
  const { makeApi } = await import("../../mock/api.mjs");
  const servers = [];
  const addresses = {};
  for (const kind of kinds) {
    const api = makeApi(kind);
    const server = createServer((request, response) => {
      const path = new URL(request.url, "http://mock").pathname;
      if (path.startsWith("/api/")) return api(request, response);
      const wanted = join(dist, normalize(path));
      const file =
        wanted.startsWith(dist) && existsSync(wanted) && statSync(wanted).isFile() ? wanted : join(dist, "index.html");
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
      return response.end(readFileSync(file));
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    addresses[kind] = `http://127.0.0.1:${server.address().port}`;
    servers.push(server);
  }
  return {
    addresses,
    close: () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
