import type { Zone } from "./format";

const pad = (value: number) => String(value).padStart(2, "0");

/** A time as a `datetime-local` field wants it, in the reader's zone: `2026-11-21T03:40`, or with its seconds. */
export function toField(ms: number, zone: Zone, withSeconds = false): string {
  const date = new Date(ms);
  const parts =
    zone === "utc"
      ? [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()]
      : [date.getFullYear(), date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes()];
  const [year, month, day, hour, minute] = parts as [number, number, number, number, number];
  const seconds = withSeconds ? `:${pad(date.getUTCSeconds())}` : ""; // no zone shifts seconds
  return `${year}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}${seconds}`;
}

/** The moment that such a field means; null when it is no time. */
export function fromField(text: string, zone: Zone): number | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text)) return null;
  const ms = Date.parse(zone === "utc" ? `${text}Z` : text);
  return Number.isFinite(ms) ? ms : null;
}
