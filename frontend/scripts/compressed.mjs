import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const TEXT = /\.(js|css|svg)$/;
/** Below this the headers weigh as much as what is saved. */
const WORTH_BYTES = 600;

/** A plugin of Vite: next to each text of the build stand its forms in Brotli and gzip, at their best and slowest, for the server to send. */
export function compressed() {
  return {
    name: "compressed",
    apply: "build",
    async writeBundle({ dir }) {
      const assets = join(dir, "assets");
      const files = readdirSync(assets).filter((name) => TEXT.test(name));
      await Promise.all(
        files.map(async (name) => {
          const text = readFileSync(join(assets, name));
          if (text.length < WORTH_BYTES) return;
          const brotli = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } };
          writeFileSync(join(assets, `${name}.br`), await promisify(brotliCompress)(text, brotli));
          writeFileSync(join(assets, `${name}.gz`), await promisify(gzip)(text, { level: 9 }));
        }),
      );
    },
  };
}
