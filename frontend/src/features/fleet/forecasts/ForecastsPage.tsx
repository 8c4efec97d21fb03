import { Stack, Text, Title } from "@mantine/core";
import { useCallback } from "react";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { type ForecastFilters, isFiltered } from "./filters";
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
        RNICs predicted to reach a hardware limit (a wall) within the next hour, and those predicted to lose bandwidth.
        Time ranges are 90% intervals; likely events are listed before possible ones.
      </Text>
      <ModelsPanel />
      <ForecastFilterBar filters={filters} onFilters={onFilters} />
      <ListPanel
        title={filters.sort === "decline" ? "Largest decline first" : "Soonest limit first"}
        aside={
          <Text size="sm" c="dimmed" role="status">
            {pages.data
              ? `${shown.toLocaleString("en")}${hasNextPage ? " and more" : ""} ${shown === 1 ? "RNIC" : "RNICs"}`
              : ""}
          </Text>
        }
        pages={pages}
        long
        empty={
          <EmptyState
            title={isFiltered(filters) ? "No RNIC matches these filters" : "No RNIC is predicted to hit a limit"}
          >
            {isFiltered(filters)
              ? "Clear the filters to see the whole fleet."
              : "No limit is reached in this time, or there is no forecast from the last 15 minutes: check that the forecast job is running."}
          </EmptyState>
        }
        moreLabel="More RNICs"
      >
        {(items) => (
          <ForecastTable
            items={items}
            sorted={filters.sort ?? "time_to_wall"}
            onSort={(sort) => onFilters({ ...filters, sort: sort === "decline" ? sort : undefined })}
            onNearEnd={onNearEnd}
          />
        )}
      </ListPanel>
    </Stack>
  );
}
