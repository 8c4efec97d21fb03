import { BANDS, bandOf, type Band } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import { isStale } from "./scene";

export interface WallSummary {
  total: number;
  bands: Record<Band, number>;
  symptoms: [symptom: string, count: number][];
  stale: number;
  cordoned: number;
  /** Rows of the RNICs that need attention, sickest first. */
  sickest: number[];
  /** How many need attention in all. */
  needAttention: number;
}

const SHOWN = 5;

/** Sickest first: more symptoms, then less headroom, then by name so that the order does not flicker. */
export function compareSickness(columns: Columns, a: number, b: number): number {
  const symptoms = (columns.symptoms[b]?.length ?? 0) - (columns.symptoms[a]?.length ?? 0);
  if (symptoms !== 0) return symptoms;
  const headroom = (columns.headroom[a] ?? Infinity) - (columns.headroom[b] ?? Infinity);
  if (headroom !== 0 && !Number.isNaN(headroom)) return headroom;
  return `${columns.host[a] ?? ""}${columns.pci[a] ?? ""}` < `${columns.host[b] ?? ""}${columns.pci[b] ?? ""}` ? -1 : 1;
}

/** Needs attention: has a symptom, or stands at or past a wall. */
export function summarise(columns: Columns, rows: readonly number[], now: number): WallSummary {
  const bands = Object.fromEntries(BANDS.map((b) => [b.band, 0])) as Record<Band, number>;
  const symptoms = new Map<string, number>();
  const sick: number[] = [];
  let stale = 0;
  let cordoned = 0;
  for (const row of rows) {
    const band = bandOf(columns.headroom[row]);
    bands[band]++;
    const has = columns.symptoms[row] ?? [];
    for (const symptom of has) symptoms.set(symptom, (symptoms.get(symptom) ?? 0) + 1);
    if (has.length > 0 || band === "beyond" || band === "near") sick.push(row);
    if (columns.cordoned[row]) cordoned++;
    if (isStale(columns, row, now)) stale++;
  }
  sick.sort((a, b) => compareSickness(columns, a, b));
  return {
    total: rows.length,
    bands,
    symptoms: [...symptoms].sort((a, b) => (a[0] < b[0] ? -1 : 1)),
    stale,
    cordoned,
    sickest: sick.slice(0, SHOWN),
    needAttention: sick.length,
  };
}
