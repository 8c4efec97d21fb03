import { Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { FleetForecast } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { type LongColumn, LongTable } from "@/lib/ui/LongTable";
import { ForecastMarks } from "./ForecastMarks";
import { declineText, intervalText, reachText } from "./times";

type Sort = "time_to_wall" | "decline";

const ROW_PX = 49;
const ROUND_MS = 10_000;
const COLUMNS: readonly LongColumn<Sort>[] = [
  { title: "RNIC", width: "16%" },
  { title: "Model", width: "7%" },
  { title: "Limit", width: "13%" },
  { title: "Reached", width: "14%", sort: { by: "time_to_wall", way: "ascending" } },
  { title: "90% interval", width: "12%" },
  { title: "Bandwidth within the hour", sort: { by: "decline", way: "descending" } },
  { title: "Forecast", width: "8%" },
  { title: "Caveats", width: 140 },
];

interface Props {
  items: readonly FleetForecast[];
  sorted: Sort;
  onSort: (sort: Sort) => void;
  onNearEnd: () => void;
}

/** Whom a wall awaits, soonest first, or who loses most. */
export function ForecastTable({ items, sorted, onSort, onNearEnd }: Props) {
  const now = Math.floor(useNow() / ROUND_MS) * ROUND_MS;
  return (
    <LongTable
      label="Forecasts"
      columns={COLUMNS}
      items={items}
      keyOf={(item) => `${item.host}|${item.pci}`}
      rowPx={ROW_PX}
      minWidth={1040}
      sorted={sorted}
      onSort={onSort}
      onNearEnd={onNearEnd}
      row={(item, drawn) => (
        <Table.Tr key={`${item.host}|${item.pci}`} data-rnic={`${item.host}|${item.pci}`} {...drawn}>
          <Table.Td>
            <Link to="/rnics/$host/$pci" params={{ host: item.host, pci: item.pci }}>
              {item.host} <span style={{ fontFamily: "var(--ww-mono)" }}>{item.pci}</span>
            </Link>
            {item.rack && (
              <Text size="xs" c="dimmed">
                rack {item.rack}
              </Text>
            )}
          </Table.Td>
          <Table.Td>{item.model ?? "unknown"}</Table.Td>
          <Table.Td>{item.label ?? "none within the hour"}</Table.Td>
          <Table.Td style={{ fontWeight: item.likely_in_s === null ? 400 : 700 }}>{reachText(item)}</Table.Td>
          <Table.Td>{intervalText(item)}</Table.Td>
          <Table.Td>
            {item.decline_since === null ? "steady" : declineText(item.decline_share, item.decline_in_s)}
          </Table.Td>
          <Table.Td>{formatAgo(item.made_at, now)}</Table.Td>
          <Table.Td>
            <ForecastMarks cold={item.cold_start} violated={item.policy_violated} />
          </Table.Td>
        </Table.Tr>
      )}
    />
  );
}
