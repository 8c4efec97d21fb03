import { Group, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { bandColor, bandOf } from "@/lib/headroom";
import { formatHeadroom, plural } from "@/lib/format";
import { useNames } from "@/lib/api/useCatalogue";
import type { Columns } from "@/lib/stream/columns";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { isStale } from "./scene";
import type { WallSummary } from "./summary";
import classes from "./AttentionList.module.css";

/** The sickest RNICs by name, one click away: what an operator came for, before any reading of colours. */
export function AttentionList({ columns, summary, now }: { columns: Columns; summary: WallSummary; now: number }) {
  const names = useNames();
  if (summary.needAttention === 0) {
    return (
      <Text size="sm" c="dimmed" data-testid="attention">
        No RNIC needs attention: none has a symptom or stands at a wall
        {summary.stale > 0 ? `, but ${plural(summary.stale, "RNIC")} did not report lately.` : "."}
      </Text>
    );
  }
  return (
    <section aria-label="RNICs that need attention" data-testid="attention">
      <Group gap={8} align="stretch" wrap="nowrap" style={{ overflowX: "auto" }}>
        <div className={classes["title"]}>
          <Title order={2} size="h3">
            {plural(summary.needAttention, "RNIC")}
          </Title>
          <Text size="xs" c="dimmed">
            {summary.needAttention === 1 ? "needs attention" : "need attention"}
          </Text>
        </div>
        {summary.sickest.map((row) => {
          const host = columns.host[row] ?? "";
          const pci = columns.pci[row] ?? "";
          const wall = columns.nearest_wall[row];
          const others = summary.sharing.get(row) ?? 0;
          return (
            <Link key={`${host}|${pci}`} to="/rnics/$host/$pci" params={{ host, pci }} className={classes["card"]} style={{ borderLeftColor: bandColor(bandOf(columns.headroom[row])) }}>
              <Group gap={6} wrap="nowrap">
                <Text fw={600} size="sm" truncate>
                  {host}
                </Text>
                <Text size="xs" ff="monospace" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                  {others > 0 ? `all ${others + 1} RNICs` : pci}
                </Text>
                {(columns.symptoms[row] ?? []).map((symptom) => (
                  <SymptomBadge key={symptom} symptom={symptom} short />
                ))}
                {(columns.recent[row] ?? []).map((symptom) => (
                  <SymptomBadge key={symptom} symptom={symptom} short over />
                ))}
              </Group>
              <Text size="xs" c="dimmed" truncate>
                {formatHeadroom(columns.headroom[row])}
                {wall ? ` · ${names.wall(wall)}` : ""}
                {columns.cordoned[row] ? " · cordoned" : ""}
                {isStale(columns, row, now) ? " · stale" : ""}
              </Text>
            </Link>
          );
        })}
      </Group>
    </section>
  );
}
