/** Parts of file names that say what a file holds, and in words. */
export const KINDS = {
  mem_train: "memory profile",
  reg_train: "accelerator profile",
  slomo_train: "memory profile at one number of flows",
  own_load: "own load",
} as const;

export const MOST_CHARACTERS = 200_000;

export function kindOf(name: string): keyof typeof KINDS | undefined {
  return (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((kind) => name.includes(kind));
}

/** What stands against sending these files; undefined where nothing does. */
export function problemOf(files: readonly { name: string; text: string }[]): string | undefined {
  const kinds = files.map(({ name }) => kindOf(name));
  const nameless = files.find((_, at) => kinds[at] === undefined);
  if (nameless)
    return `${nameless.name}: its name must contain one of ${Object.keys(KINDS).join(", ")}, which says what it holds.`;
  const twice = kinds.find((kind, at) => kind !== undefined && kinds.indexOf(kind) !== at);
  if (twice) return `Two files are a ${KINDS[twice]}: choose one of each kind.`;
  if (!kinds.includes("mem_train")) return "A memory profile (mem_train in the name) is required.";
  const long = files.find(({ text }) => text.length > MOST_CHARACTERS);
  if (long) return `${long.name} has ${long.text.length} characters; at most ${MOST_CHARACTERS} are accepted.`;
  return undefined;
}

/** `ids_mem_train` is a profile of ids. */
export function functionOf(files: readonly { name: string }[]): string {
  const memory = files.find(({ name }) => kindOf(name) === "mem_train")?.name ?? "";
  return memory.replace(/[._-]?mem_train.*$/, "").replace(/[^A-Za-z0-9._-]/g, "");
}
