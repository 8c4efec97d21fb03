// Writes src/lib/api/schema.d.ts, the API's types, from openapi.json. Runs before every task that needs them (package.json),
// so it does nothing, within some milliseconds, while neither the description nor the generator has changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const here = (path) => new URL(path, import.meta.url);
const SOURCE = here("../src/lib/api/openapi.json");
const TARGET = here("../src/lib/api/schema.d.ts");

const { devDependencies } = JSON.parse(readFileSync(here("../package.json"), "utf8"));
const source = readFileSync(SOURCE, "utf8");
const hash = createHash("sha256").update(devDependencies["openapi-typescript"]).update(source).digest("hex");
const mark = `// Generated from openapi.json by 'npm run generate'; not in git. ${hash}\n`;

if (!existsSync(TARGET) || !readFileSync(TARGET, "utf8").startsWith(mark)) {
  const { default: openapi, astToString } = await import("openapi-typescript");
  writeFileSync(TARGET, mark + astToString(await openapi(JSON.parse(source))));
}
