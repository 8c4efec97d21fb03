import { formatHeadroom } from "@/lib/format";
import type { Columns } from "@/lib/stream/columns";
import { formatAgo } from "@/lib/time/format";
import { isStale } from "./scene";

/** A tile in words, for screen readers and for the browser tests. */
export function describeTile(
  columns: Columns,
  row: number,
  wallLabel: (wall: string) => string,
  now: number,
  staleAfterMs: number,
): string {
  const symptoms = columns.symptoms[row] ?? [];
  const seen = columns.seen_at_ms[row] ?? null;
  const wall = columns.nearest_wall[row];
  const parts = [
    `${columns.host[row] ?? ""} ${columns.pci[row] ?? ""}`,
    columns.model[row] ?? "unknown model",
    formatHeadroom(columns.headroom[row]) + (wall ? `, nearest limit ${wallLabel(wall)}` : ""),
    symptoms.length > 0 ? `symptoms ${symptoms.join(", ")}` : "no symptoms",
  ];
  const recent = columns.recent[row] ?? [];
  if (recent.length > 0) parts.push(`recently cleared: ${recent.join(", ")}`);
  if (columns.cordoned[row]) parts.push("cordoned");
  if (isStale(columns, row, now, staleAfterMs)) parts.push(`stale, last seen ${formatAgo(seen, now)}`);
  return parts.join("; ");
}
