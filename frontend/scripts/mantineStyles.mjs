// The styles of the Mantine components that the pages use, and of no other: its whole sheet is 250 kB, five times as much.
// `node scripts/mantineStyles.mjs` writes src/lib/ui/mantine.css; mantineStyles.test.mjs fails when it is out of date.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const FRONTEND = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const CORE = join(FRONTEND, "node_modules/@mantine/core");
export const SHEET = join(FRONTEND, "src/lib/ui/mantine.css");
/** What every page has: resets, variables of the theme, and the styles of properties such as `visibleFrom`. */
const ALWAYS = ["baseline", "default-css-variables", "global"];
/** Packages of Mantine that use its components on their own account. */
const OTHERS = ["notifications"];

const read = (path) => readFileSync(path, "utf8");

function sources(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && /\.tsx?$/.test(each.name) && !each.name.includes(".test."))
    .map((each) => join(each.parentPath, each.name));
}

/** Names that a file imports from @mantine/core, types left out. */
function imported(text) {
  const found = [];
  for (const [, names] of text.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g))
    found.push(
      ...names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type ")),
    );
  return found.map((name) => name.split(" as ")[0]);
}

/** Every module below @mantine/core's components that these files of it import, and what those import. */
function reached(starts) {
  const seen = new Set();
  const left = [...starts];
  while (left.length > 0) {
    const file = left.pop();
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, path] of read(file).matchAll(/from "(\.[^"]+)"/g)) left.push(resolve(dirname(file), path));
  }
  return seen;
}

const classesOf = (text) => [...text.matchAll(/\bm_[0-9a-f]+\b/g)].map(([name]) => name);

/** Names of Mantine's style sheets that the pages need, in the order in which its own whole sheet has them. */
export function neededStyles() {
  const index = new Map(
    [...read(join(CORE, "esm/index.mjs")).matchAll(/import \{ (\w+) \} from "(\.[^"]+)"/g)].map(([, name, path]) => [
      name,
      resolve(CORE, "esm", path),
    ]),
  );
  const names = sources(join(FRONTEND, "src")).flatMap((file) => imported(read(file)));
  for (const other of OTHERS) {
    const folder = join(FRONTEND, "node_modules/@mantine", other, "esm");
    for (const file of readdirSync(folder).filter((each) => each.endsWith(".mjs")))
      names.push(...imported(read(join(folder, file))));
  }
  const starts = [...new Set(names)].flatMap((name) => index.get(name) ?? []);
  const used = new Set();
  for (const file of reached(starts))
    if (file.endsWith(".module.mjs")) for (const name of classesOf(read(file))) used.add(name);
  const whole = read(join(CORE, "styles.css"));
  const places = new Map();
  for (const file of readdirSync(join(CORE, "styles"))) {
    const name = file.replace(/\.css$/, "");
    if (name.endsWith(".layer") || ALWAYS.includes(name)) continue;
    const first = classesOf(read(join(CORE, "styles", file)));
    if (first.some((each) => used.has(each))) places.set(name, whole.indexOf(first[0]));
  }
  return [...ALWAYS, ...[...places.keys()].sort((a, b) => places.get(a) - places.get(b))];
}

export function sheet() {
  const lines = neededStyles().map((name) => `@import "@mantine/core/styles/${name}.css";`);
  return `/* Written by scripts/mantineStyles.mjs: the styles of the Mantine components in use, in Mantine's own order. */\n${lines.join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SHEET, sheet());
