import { plural } from "@/lib/format";
import { type Band, bandOf, BANDS } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import type { FleetState } from "@/lib/stream/fleetStore";
import { compareSymptoms } from "@/lib/symptoms";
import { needsAttention } from "@/shared/fleet/filters";
import { isStale } from "./canvas/scene";

export interface FleetSummary {
  total: number;
  bands: Record<Band, number>;
  symptoms: [symptom: string, count: number][];
  stale: number;
  cordoned: number;
  /** RNICs whose symptom is over, but recent, and that have none now. */
  recent: number;
  /** Rows of the RNICs that need attention, sickest first; a symptom of a whole host stands there once. */
  sickest: number[];
  /** All of them in that order, for stepping from one to the next. */
  sick: number[];
  /** How many of them stand neither in `sickest` nor for the host of one there. */
  more: number;
  /** For such a row: how many other RNICs of its host have the same. */
  sharing: Map<number, number>;
  /** How many need attention in all. */
  needAttention: number;
}

const SHOWN = 5;
/** Symptoms that are the host's, and so on all its RNICs. */
const OF_HOST = new Set(["S2", "S3", "S7", "silent"]);

/** One row for all RNICs of a host that have just a symptom of the host. */
function oncePerHost(columns: Columns, rows: readonly number[]): { kept: number[]; sharing: Map<number, number> } {
  const first = new Map<string, number>();
  const sharing = new Map<number, number>();
  const kept = rows.filter((row) => {
    const symptoms = columns.symptoms[row] ?? [];
    if (symptoms.length === 0 || !symptoms.every((symptom) => OF_HOST.has(symptom))) return true;
    const key = `${columns.host[row] ?? ""}|${symptoms.join()}`;
    const known = first.get(key);
    if (known === undefined) {
      first.set(key, row);
      return true;
    }
    sharing.set(known, (sharing.get(known) ?? 0) + 1);
    return false;
  });
  return { kept, sharing };
}

/** Sickest first: more symptoms, then less headroom, then by name so that the order does not flicker. */
export function compareSickness(columns: Columns, a: number, b: number): number {
  const symptoms = (columns.symptoms[b]?.length ?? 0) - (columns.symptoms[a]?.length ?? 0);
  if (symptoms !== 0) return symptoms;
  const headroom = (columns.headroom[a] ?? Infinity) - (columns.headroom[b] ?? Infinity);
  if (headroom !== 0 && !Number.isNaN(headroom)) return headroom;
  return `${columns.host[a] ?? ""}${columns.pci[a] ?? ""}` < `${columns.host[b] ?? ""}${columns.pci[b] ?? ""}` ? -1 : 1;
}

/** Needs attention: has a symptom, or is at or over a limit. */
export function summarise(
  { columns, staleAfterMs }: Pick<FleetState, "columns" | "staleAfterMs">,
  rows: readonly number[],
  now: number,
): FleetSummary {
  const bands = Object.fromEntries(BANDS.map((b) => [b.band, 0])) as Record<Band, number>;
  const symptoms = new Map<string, number>();
  const sick: number[] = [];
  let stale = 0;
  let cordoned = 0;
  let recent = 0;
  for (const row of rows) {
    const band = bandOf(columns.headroom[row]);
    bands[band]++;
    const has = columns.symptoms[row] ?? [];
    for (const symptom of has) symptoms.set(symptom, (symptoms.get(symptom) ?? 0) + 1);
    if (needsAttention(columns, row)) sick.push(row);
    if (has.length === 0 && (columns.recent[row]?.length ?? 0) > 0) recent++;
    if (columns.cordoned[row]) cordoned++;
    if (isStale(columns, row, now, staleAfterMs)) stale++;
  }
  sick.sort((a, b) => compareSickness(columns, a, b));
  const { kept, sharing } = oncePerHost(columns, sick);
  return {
    total: rows.length,
    bands,
    symptoms: [...symptoms].sort((a, b) => compareSymptoms(a[0], b[0])),
    stale,
    cordoned,
    recent,
    sickest: kept.slice(0, SHOWN),
    sick: kept,
    more: sick.length - kept.slice(0, SHOWN).reduce((sum, row) => sum + 1 + (sharing.get(row) ?? 0), 0),
    sharing,
    needAttention: sick.length,
  };
}

/** What may be said of a fleet where nothing is known to be wrong: an RNIC whose limits are unknown is not a healthy one. */
export function quietText({ total, bands: { unknown } }: Pick<FleetSummary, "total" | "bands">): string {
  if (unknown === 0) return "All RNICs healthy: no symptoms, none near its limit";
  if (unknown === total) return "No symptoms. How close the RNICs are to their limits is unknown";
  return `No symptoms, none near its limit. The limits of ${plural(unknown, "RNIC")} are unknown`;
}
