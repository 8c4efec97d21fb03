import { type Band, bandOf, BANDS } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import { isSymptom } from "@/lib/symptoms";

/** What the fleet page shows, as it stands in the URL: lists are comma-separated, `?symptom=S1,S6&use=near,beyond&q=host0`. */
export interface FleetFilters {
  rack?: string;
  host?: string;
  model?: string;
  symptom?: string;
  /** Bands of how much of the nearest limit is used. */
  use?: string;
  q?: string;
  /** `1`: only what needs attention, by a symptom or by a limit that it is near or over. */
  sick?: string;
}

const KEYS = ["rack", "host", "model", "symptom", "use", "q", "sick"] as const;
const BAND_NAMES = new Set<string>(BANDS.map((b) => b.band));
const SYMPTOM_SETS = new Set(["any", "none", "recent"]);

export function toList(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

export function fromList(values: readonly string[]): string | undefined {
  return values.length > 0 ? values.join(",") : undefined;
}

/** Whatever a hand-written link holds becomes filters; what can't be one is left out rather than refused. */
export function parseFilters(search: Record<string, unknown>): FleetFilters {
  const filters: FleetFilters = {};
  for (const key of KEYS) {
    const raw = search[key];
    if (typeof raw !== "string" && typeof raw !== "number") continue;
    let values = toList(String(raw));
    if (key === "use") values = values.filter((v) => BAND_NAMES.has(v));
    if (key === "sick") values = values.filter((v) => v === "1");
    if (key === "symptom") values = values.filter((v) => SYMPTOM_SETS.has(v) || isSymptom(v));
    const text = key === "q" ? String(raw).trim() : fromList(values);
    if (text) filters[key] = text;
  }
  return filters;
}

export function isFiltered(filters: FleetFilters): boolean {
  return KEYS.some((key) => filters[key] !== undefined);
}

/** Has a symptom, or is near or over a limit. */
export function needsAttention(columns: Columns, row: number): boolean {
  if ((columns.symptoms[row]?.length ?? 0) > 0) return true;
  const band = bandOf(columns.headroom[row]);
  return band === "beyond" || band === "near";
}

function matcher(filters: FleetFilters): (columns: Columns, row: number) => boolean {
  const rack = new Set(toList(filters.rack));
  const host = new Set(toList(filters.host));
  const model = new Set(toList(filters.model));
  const symptom = new Set(toList(filters.symptom));
  const band = new Set<string>(toList(filters.use));
  const words = (filters.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return (c, row) => {
    if (filters.sick && !needsAttention(c, row)) return false;
    if (rack.size > 0 && !rack.has(c.rack[row] ?? "")) return false;
    if (host.size > 0 && !host.has(c.host[row] ?? "")) return false;
    if (model.size > 0 && !model.has(c.model[row] ?? "")) return false;
    if (band.size > 0 && !band.has(bandOf(c.headroom[row]) satisfies Band)) return false;
    const has = c.symptoms[row] ?? [];
    if (symptom.size > 0) {
      const hit =
        (symptom.has("any") && has.length > 0) ||
        (symptom.has("none") && has.length === 0) ||
        (symptom.has("recent") && (c.recent[row]?.length ?? 0) > 0) ||
        has.some((s) => symptom.has(s));
      if (!hit) return false;
    }
    if (words.length > 0) {
      const text =
        `${c.host[row] ?? ""} ${c.pci[row] ?? ""} ${c.rack[row] ?? ""} ${c.model[row] ?? ""} ${has.join(" ")}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return false;
    }
    return true;
  };
}

/** The rows of the fleet that the filters keep, in the columns' order. */
export function filterRows(columns: Columns, filters: FleetFilters): number[] {
  const keeps = matcher(filters);
  const rows: number[] = [];
  for (let row = 0; row < columns.host.length; row++) if (keeps(columns, row)) rows.push(row);
  return rows;
}
