import { Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { FleetForecast } from "@/lib/api/types";
import { type LongColumn, LongTable } from "@/lib/ui/LongTable";
import { chanceText, declineText, intervalText, reachText } from "./times";

type Sort = "time_to_wall" | "decline";

const ROW_PX = 49;
const COLUMNS: readonly LongColumn<Sort>[] = [
  { title: "RNIC", width: "19%" },
  { title: "Model", width: "7%" },
  { title: "Limit", width: "15%" },
  { title: "Reached", width: "13%", sort: { by: "time_to_wall", way: "ascending" } },
  { title: "90% interval", width: "13%" },
  { title: "Chance", width: "7%" },
  { title: "Bandwidth within the hour", sort: { by: "decline", way: "descending" } },
  { title: "Confidence", width: 110 },
];

interface Props {
  label: string;
  items: readonly FleetForecast[];
  sorted: Sort;
  onSort: (sort: Sort) => void;
  onNearEnd: () => void;
}

/** RNICs with the limit that they reach first, or with what they lose. */
export function ForecastTable({ label, items, sorted, onSort, onNearEnd }: Props) {
  return (
    <LongTable
      label={label}
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
          <Table.Td>{item.label ?? "none"}</Table.Td>
          <Table.Td style={{ fontWeight: item.likely_in_s === null ? 400 : 700 }}>{reachText(item)}</Table.Td>
          <Table.Td>{intervalText(item)}</Table.Td>
          <Table.Td>{chanceText(item.chance)}</Table.Td>
          <Table.Td>
            {item.decline_since === null ? "steady" : declineText(item.decline_share, item.decline_in_s)}
          </Table.Td>
          <Table.Td>{item.confidence ?? "unknown"}</Table.Td>
        </Table.Tr>
      )}
    />
  );
}
