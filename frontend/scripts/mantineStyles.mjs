// The styles of the Mantine components that the pages use, and of no other: its whole sheet is 250 kB, five times as much. Those that
// the fleet's page and what is around every page need are in mantine.css, the others in mantineMore.css, which the other pages and
// dialogs import. `node scripts/mantineStyles.mjs` writes both; mantineStyles.test.mjs fails when one is out of date or not imported.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const FRONTEND = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const CORE = join(FRONTEND, "node_modules/@mantine/core");
const SRC = join(FRONTEND, "src");
export const SHEET = join(SRC, "lib/ui/mantine.css");
export const MORE = join(SRC, "lib/ui/mantineMore.css");
/** What everybody fetches first: the frame of all pages, and the page that they open on. */
const FIRST = ["app/main.tsx", "app/routes/FleetRoute.tsx"].map((file) => join(SRC, file));
/** What every page has: resets, variables of the theme, and the styles of properties such as `visibleFrom`. */
const ALWAYS = ["baseline", "default-css-variables", "global"];
/** Packages of Mantine that use its components on their own account, and the component of theirs that does. */
const OTHERS = [{ name: "notifications", component: "Notifications" }];

const read = (path) => readFileSync(path, "utf8");

function sources(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && /\.tsx?$/.test(each.name) && !each.name.includes(".test."))
    .map((each) => join(each.parentPath, each.name));
}

/** The file of ours that an import names; null for a package. */
function resolved(from, path) {
  const base = path.startsWith("@/")
    ? join(SRC, path.slice(2))
    : path.startsWith(".")
      ? resolve(dirname(from), path)
      : null;
  if (base === null) return null;
  return [base, `${base}.tsx`, `${base}.ts`].find((file) => existsSync(file) && statSync(file).isFile()) ?? null;
}

/** These files and all that they lead to; `next` names the files that one imports. */
function reachable(starts, next) {
  const seen = new Set();
  const left = [...starts];
  while (left.length > 0) {
    const file = left.pop();
    if (seen.has(file)) continue;
    seen.add(file);
    left.push(...next(file));
  }
  return seen;
}

/** These files and all that they import at once, not what they fetch later. */
function closure(starts) {
  const statement = /^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gm;
  const next = (file) =>
    /\.tsx?$/.test(file)
      ? [...read(file).matchAll(statement)].map(([, path]) => resolved(file, path)).filter((found) => found !== null)
      : [];
  return [...reachable(starts, next)];
}

/** Names that a file imports from @mantine/core (or another package of Mantine), types left out. */
function imported(text, from = "core") {
  const found = [];
  for (const [, names] of text.matchAll(new RegExp(`import \\{([^}]*)\\} from "@mantine/${from}"`, "g")))
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
  return reachable(starts, (file) =>
    [...read(file).matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => resolve(dirname(file), path)),
  );
}

const classesOf = (text) => [...text.matchAll(/\bm_[0-9a-f]+\b/g)].map(([name]) => name);

/** Names of Mantine's style sheets that these files need (all of ours by default), in the order in which its own whole sheet has them. */
export function neededStyles(files = sources(SRC)) {
  const texts = files.filter((file) => /\.tsx?$/.test(file)).map(read);
  const index = new Map(
    [...read(join(CORE, "esm/index.mjs")).matchAll(/import \{ (\w+) \} from "(\.[^"]+)"/g)].map(([, name, path]) => [
      name,
      resolve(CORE, "esm", path),
    ]),
  );
  const names = texts.flatMap((text) => imported(text));
  for (const { name, component } of OTHERS) {
    if (!texts.some((text) => imported(text, name).includes(component))) continue;
    const folder = join(FRONTEND, "node_modules/@mantine", name, "esm");
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

const asSheet = (what, names) =>
  `/* Written by scripts/mantineStyles.mjs: the styles of ${what}, in Mantine's own order. */\n${names
    .map((name) => `@import "@mantine/core/styles/${name}.css";`)
    .join("\n")}\n`;

/** Every file of ours that everybody fetches first. */
export const firstFiles = () => closure(FIRST);

/** The text of both sheets. */
export function sheets() {
  const first = new Set(neededStyles(closure(FIRST)));
  const all = neededStyles();
  return {
    first: asSheet(
      "the Mantine components of the frame and the fleet",
      all.filter((name) => first.has(name)),
    ),
    more: asSheet(
      "the Mantine components of other pages and dialogs",
      all.filter((name) => !first.has(name)),
    ),
  };
}

/** What is fetched later and needs the second sheet without importing it; paths below src/. */
export function withoutStyles() {
  const first = new Set(neededStyles(closure(FIRST)));
  const later = new Set();
  for (const file of sources(SRC))
    for (const [, path] of read(file).matchAll(/\bimport\("([^"]+)"\)/g)) later.add(resolved(file, path));
  return [...later]
    .filter((file) => file !== null && !FIRST.includes(file))
    .filter((file) => {
      const files = closure([file]);
      return !files.includes(MORE) && neededStyles(files).some((name) => !first.has(name));
    })
    .map((file) => file.slice(SRC.length + 1))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { first, more } = sheets();
  writeFileSync(SHEET, first);
  writeFileSync(MORE, more);
  for (const file of withoutStyles()) process.stderr.write(`${file}: import "@/lib/ui/mantineMore.css" first\n`);
}
