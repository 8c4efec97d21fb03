import { Text } from "@mantine/core";
import { useState } from "react";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import type { ForecastFilters } from "./filters";
import { ForecastTable } from "./ForecastTable";
import { useFleetForecasts } from "./queries";
import { useNearEnd } from "./useNearEnd";

interface Props {
  count: number;
  withinText: string;
  filters: ForecastFilters;
  onFilters: (filters: ForecastFilters) => void;
}

/** RNICs that need no look, in one line; a click opens their list. */
export function OtherForecasts({ count, withinText, filters, onFilters }: Props) {
  const [open, setOpen] = useState(false);
  if (count === 0) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary style={{ cursor: "pointer", marginBottom: 6 }}>
        {plural(count, "RNIC")} {count === 1 ? "is" : "are"} not expected to reach a limit within {withinText}
      </summary>
      {open && <Others filters={filters} onFilters={onFilters} />}
    </details>
  );
}

function Others({ filters, onFilters }: Pick<Props, "filters" | "onFilters">) {
  const pages = useFleetForecasts(filters, false);
  const onNearEnd = useNearEnd(pages);
  return (
    <ListPanel
      title="Not expected to reach a limit"
      aside={
        <Text size="sm" c="dimmed">
          chance below 50%
        </Text>
      }
      pages={pages}
      long
      empty={<EmptyState title="No other RNIC" />}
      moreLabel="More RNICs"
    >
      {(items) => (
        <ForecastTable
          label="RNICs not expected to reach a limit"
          items={items}
          sorted={filters.sort ?? "time_to_wall"}
          onSort={(sort) => onFilters({ ...filters, sort: sort === "decline" ? sort : undefined })}
          onNearEnd={onNearEnd}
        />
      )}
    </ListPanel>
  );
}
