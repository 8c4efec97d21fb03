/** The server takes so much of one file and of all together. */
export const MOST_CHARACTERS = 200_000;
export const MOST_TOGETHER = 900_000;
export const MOST_FILES = 200;

/** Each latency that `-U` and `-H` list before the table, which has their summary: megabytes that nobody reads. */
const SINGLES = /^[ \t]*\d+, [\d.e+-]+[ \t]*\r?\n/gm;

/** What a log of perftest says: gzip unpacked, UTF-8 or UTF-16 by its mark, lists of single latencies left away. */
export async function textOfLog(file: Blob): Promise<string> {
  let bytes = await bytesOf(file);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    bytes = new Uint8Array(
      await new Response(new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
    );
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes).replace(SINGLES, "");
}

async function bytesOf(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.arrayBuffer());
}

/** What stands against sending these; undefined where nothing does. */
export function tooMuch(files: readonly { name: string; text: string }[]): string | undefined {
  const long = files.find(({ text }) => text.length > MOST_CHARACTERS);
  if (long)
    return `${long.name} has ${long.text.length} characters, more than any output of perftest (${MOST_CHARACTERS}).`;
  const together = files.reduce((sum, { text }) => sum + text.length, 0);
  if (files.length > MOST_FILES || together > MOST_TOGETHER)
    return [
      `${files.length} files with ${together} characters are too many at once:`,
      `at most ${MOST_FILES} files and ${MOST_TOGETHER} characters.`,
      "The command wallwatch calibrate perftest takes any number.",
    ].join(" ");
  return undefined;
}

/** Under how many masks a file was measured: those of client and server, encapsulation and decapsulation, or the queries themselves. */
export type Masks = Partial<Record<"cen" | "cde" | "sen" | "sde" | "ql" | "qr", number>>;

const MASKS = /(?<![a-z])(cen|cde|sen|sde)[_=-]?(\d+)/gi;
const QUERIES = /(?<![a-z])q_?([lr])[_=-]?(\d+(?:\.\d+)?)/gi;

/** As the backend reads a file's name: all four masks or both queries are in it, once; null while they are not. */
export function masksOfText(text: string): Masks | null {
  const masks = [...text.matchAll(MASKS)].map(([, name = "", value]) => [name.toLowerCase(), Number(value)] as const);
  const queries = [...text.matchAll(QUERIES)].map(
    ([, side = "", value]) => [`q${side.toLowerCase()}`, Number(value)] as const,
  );
  const found = masks.length > 0 ? masks : queries;
  const expected = masks.length > 0 ? 4 : 2;
  return found.length === expected && new Set(found.map(([name]) => name)).size === expected
    ? Object.fromEntries(found)
    : null;
}

export const nameTellsMasks = (name: string): boolean => masksOfText(name) !== null;
