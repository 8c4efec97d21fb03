import { Stack, Text, Title } from "@mantine/core";
import { useCallback } from "react";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { isFiltered, type ForecastFilters } from "./filters";
import { ForecastFilterBar } from "./ForecastFilterBar";
import { ForecastTable } from "./ForecastTable";
import { ModelsPanel } from "./ModelsPanel";
import { useFleetForecasts } from "./queries";

interface Props {
  filters: ForecastFilters;
  onFilters: (filters: ForecastFilters) => void;
}

/** Who hits a wall in the next hour, and who loses bandwidth. */
export function ForecastsPage({ filters, onFilters }: Props) {
  const pages = useFleetForecasts(filters);
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = pages;
  // After an error the button remains: asking again and again would help nobody.
  const mayFetch = hasNextPage && !isFetching && !isFetchNextPageError;
  const onNearEnd = useCallback(() => {
    if (mayFetch) void fetchNextPage();
  }, [mayFetch, fetchNextPage]);
  const shown = pages.data?.length ?? 0;
  return (
    <Stack gap={12}>
      <Title order={1}>Forecasts</Title>
      <Text size="sm" c="dimmed" maw={900}>
        Which RNICs meet a wall in the next hour, and which lose bandwidth. Each time holds nine of ten cases between its ends; a likely one comes before those that are only possible.
      </Text>
      <ModelsPanel />
      <ForecastFilterBar filters={filters} onFilters={onFilters} />
      <ListPanel
        title={filters.sort === "decline" ? "Greatest loss first" : "Soonest wall first"}
        aside={
          <Text size="sm" c="dimmed" role="status">
            {pages.data ? `${shown.toLocaleString("en")}${hasNextPage ? " and more" : ""} ${shown === 1 ? "RNIC" : "RNICs"}` : ""}
          </Text>
        }
        pages={pages}
        long
        empty={
          <EmptyState title={isFiltered(filters) ? "No RNIC matches these filters" : "No RNIC is likely to meet a wall"}>
            {isFiltered(filters) ? "Clear the filters to see the whole fleet." : "Nothing is foretold within this time. Without any forecast in the last 15 minutes nothing is listed either: see that the job forecast runs."}
          </EmptyState>
        }
        moreLabel="More RNICs"
      >
        {(items) => <ForecastTable items={items} sorted={filters.sort ?? "time_to_wall"} onSort={(sort) => onFilters({ ...filters, sort: sort === "decline" ? sort : undefined })} onNearEnd={onNearEnd} />}
      </ListPanel>
    </Stack>
  );
}
