import { formatHeadroom, formatShare } from "@/lib/format";
import { STALE_AFTER_MS } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import { formatAgo } from "@/lib/time/format";

export function formatTileHeadroom(headroom: number | null | undefined): string {
  if (headroom === null || headroom === undefined) return "not known";
  return headroom < 0 ? `${formatShare(-headroom)} past` : `${formatShare(headroom)} left`;
}

/** A tile in words, for screen readers and for the browser tests. */
export function describeTile(columns: Columns, row: number, wallLabel: (wall: string) => string, now: number): string {
  const symptoms = columns.symptoms[row] ?? [];
  const seen = columns.seen_at_ms[row] ?? null;
  const wall = columns.nearest_wall[row];
  const parts = [
    `${columns.host[row] ?? ""} ${columns.pci[row] ?? ""}`,
    columns.model[row] ?? "model not known",
    formatHeadroom(columns.headroom[row]) + (wall ? `, nearest wall ${wallLabel(wall)}` : ""),
    symptoms.length > 0 ? `symptoms ${symptoms.join(", ")}` : "no symptom",
  ];
  const recent = columns.recent[row] ?? [];
  if (recent.length > 0) parts.push(`over, but recent: ${recent.join(", ")}`);
  if (columns.cordoned[row]) parts.push("cordoned");
  if (seen === null || now - seen > STALE_AFTER_MS) parts.push(`stale, last seen ${formatAgo(seen, now)}`);
  return parts.join("; ");
}
