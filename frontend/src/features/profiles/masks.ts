/** Under how many masks a file was measured: those of client and server, encapsulation and decapsulation, or the queries themselves. */
export type Masks = Partial<Record<"cen" | "cde" | "sen" | "sde" | "ql" | "qr", number>>;

const MASKS = /(?<![a-z])(cen|cde|sen|sde)[_=-]?(\d+)/gi;
const QUERIES = /(?<![a-z])q_?([lr])[_=-]?(\d+(?:\.\d+)?)/gi;

/** As the backend reads a file's name: all four masks or both queries are in it, once; null while they are not. */
export function masksOfText(text: string): Masks | null {
  const masks = [...text.matchAll(MASKS)].map(([, name = "", value]) => [name.toLowerCase(), Number(value)] as const);
  const queries = [...text.matchAll(QUERIES)].map(([, side = "", value]) => [`q${side.toLowerCase()}`, Number(value)] as const);
  const found = masks.length > 0 ? masks : queries;
  const expected = masks.length > 0 ? 4 : 2;
  return found.length === expected && new Set(found.map(([name]) => name)).size === expected ? Object.fromEntries(found) : null;
}

export const nameTellsMasks = (name: string): boolean => masksOfText(name) !== null;
