import { Group, Text } from "@mantine/core";
import { formatHeadroom, formatValue } from "@/lib/format";
import type { Columns } from "@/lib/stream/columns";
import { formatAgo } from "@/lib/time/format";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import classes from "./FleetCanvas.module.css";

interface Props {
  columns: Columns;
  row: number;
  x: number;
  y: number;
  width: number;
  height: number;
  now: number;
  wallLabel: (wall: string) => string;
}

const WIDTH = 280;
const HEIGHT = 150;

export function TileTooltip({ columns, row, x, y, width, height, now, wallLabel }: Props) {
  if (row < 0) return null;
  const left = x + 18 + WIDTH > width ? x - WIDTH - 12 : x + 18;
  const top = y + 12 + HEIGHT > height ? Math.max(4, y - HEIGHT) : y + 12;
  const wall = columns.nearest_wall[row];
  const symptoms = columns.symptoms[row] ?? [];
  return (
    <div className={classes["tooltip"]} style={{ left, top }} role="tooltip">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fw={600} size="sm">
          {columns.host[row]}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {columns.pci[row]}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        {columns.model[row] ?? "unknown model"} · {columns.rack[row] ?? "no rack"} · seen{" "}
        {formatAgo(columns.seen_at_ms[row], now)}
      </Text>
      <Text size="sm" mt={4}>
        {formatHeadroom(columns.headroom[row])}
        {wall ? ` · nearest limit: ${wallLabel(wall)}` : ""}
      </Text>
      <Text size="sm">
        Sends {formatValue(columns.tx_gbps[row], "Gbit/s")} · receives {formatValue(columns.rx_gbps[row], "Gbit/s")}
      </Text>
      <Group gap={4} mt={4}>
        {symptoms.map((symptom) => (
          <SymptomBadge key={symptom} symptom={symptom} />
        ))}
        {(columns.recent[row] ?? []).map((symptom) => (
          <SymptomBadge key={symptom} symptom={symptom} over />
        ))}
        {columns.cordoned[row] && <Text size="xs">⊘ cordoned: takes no new VFs</Text>}
      </Group>
    </div>
  );
}
