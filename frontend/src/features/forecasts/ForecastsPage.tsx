import { Checkbox, Group, SegmentedControl, Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { FleetForecast } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { type ForecastFilters, WITHIN_MIN } from "./filters";
import { ForecastMarks } from "./ForecastMarks";
import { ModelsPanel } from "./ModelsPanel";
import { useFleetForecasts } from "./queries";
import { intervalText, reachText } from "./times";

interface Props {
  filters: ForecastFilters;
  onFilters: (filters: ForecastFilters) => void;
}

function Rows({ items }: { items: readonly FleetForecast[] }) {
  const now = useNow();
  return (
    <HeadedTable label="Forecasts" titles={["RNIC", "Model", "Wall", "Reached", "Nine of ten cases", "Bandwidth within the hour", "Made", ""]}>
      {items.map((item) => (
        <Table.Tr key={`${item.host}|${item.pci}`} data-rnic={`${item.host}|${item.pci}`}>
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
          <Table.Td>{item.model ?? "not known"}</Table.Td>
          <Table.Td>{item.label ?? "none within the hour"}</Table.Td>
          <Table.Td style={{ fontWeight: item.likely_in_s === null ? 400 : 700 }}>{reachText(item)}</Table.Td>
          <Table.Td>{intervalText(item)}</Table.Td>
          <Table.Td>
            {item.decline_in_s === null ? "steady" : `falls by ${formatShare(item.decline_share)}, 5 % in ${formatDuration(item.decline_in_s * 1000)}`}
          </Table.Td>
          <Table.Td>{formatAgo(item.made_at, now)}</Table.Td>
          <Table.Td>
            <ForecastMarks cold={item.cold_start} violated={item.policy_violated} />
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}

/** Who hits a wall in the next hour, and who loses bandwidth. */
export function ForecastsPage({ filters, onFilters }: Props) {
  const pages = useFleetForecasts(filters);
  return (
    <Stack gap={12}>
      <Title order={1}>Forecasts</Title>
      <Text size="sm" c="dimmed" maw={900}>
        Which RNICs meet a wall in the next hour, and which lose bandwidth. Each time holds nine of ten cases between its ends; a likely one comes before those that are only possible.
      </Text>
      <Group gap={16}>
        <SegmentedControl
          aria-label="Within"
          value={String(filters.within ?? 60)}
          onChange={(value) => onFilters({ ...filters, within: value === "60" ? undefined : Number(value) })}
          data={WITHIN_MIN.map((minutes) => ({ value: String(minutes), label: `${minutes} min` }))}
        />
        <SegmentedControl
          aria-label="Order"
          value={filters.sort ?? "time_to_wall"}
          onChange={(value) => onFilters({ ...filters, sort: value === "decline" ? "decline" : undefined })}
          data={[
            { value: "time_to_wall", label: "Soonest wall first" },
            { value: "decline", label: "Greatest loss first" },
          ]}
        />
        <Checkbox label="Only those that lose bandwidth" checked={filters.declining === true} onChange={(event) => onFilters({ ...filters, declining: event.currentTarget.checked ? true : undefined })} />
      </Group>
      <ListPanel
        title="RNICs"
        pages={pages}
        empty={<EmptyState title="No RNIC is likely to meet a wall">Nothing is foretold within this time. Without any forecast in the last 15 minutes nothing is listed either: see that the job forecast runs.</EmptyState>}
        moreLabel="More RNICs"
      >
        {(items) => <Rows items={items} />}
      </ListPanel>
      <ModelsPanel />
    </Stack>
  );
}
