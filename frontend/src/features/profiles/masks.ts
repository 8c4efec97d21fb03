/** Numbers of masks by name: client and server, encapsulation and decapsulation. */
export type Masks = {
  cen: number;
  cde: number;
  sen: number;
  sde: number;
};

const NAMED = /(?<![a-z])(cen|cde|sen|sde)[_=-]?(\d+)/gi;

/** As the backend reads a file's name: all four numbers are in it. */
export function nameTellsMasks(name: string): boolean {
  const found = [...name.matchAll(NAMED)].map((match) => (match[1] ?? "").toLowerCase());
  return found.length === 4 && new Set(found).size === 4;
}

/** `cen=0,cde=0,sen=0,sde=0` as numbers, or null while it is not that. */
export function masksOfText(text: string): Masks | null {
  if (!nameTellsMasks(text)) return null;
  const found = Object.fromEntries([...text.matchAll(NAMED)].map((match) => [(match[1] ?? "").toLowerCase(), Number(match[2])]));
  return { cen: found["cen"] ?? 0, cde: found["cde"] ?? 0, sen: found["sen"] ?? 0, sde: found["sde"] ?? 0 };
}
