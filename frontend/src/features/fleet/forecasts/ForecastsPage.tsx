import { Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { type ForecastFilters, isFiltered } from "./filters";
import { ForecastCounters } from "./ForecastCounters";
import { ForecastFilterBar } from "./ForecastFilterBar";
import { ForecastTimeline } from "./ForecastTimeline";
import { ForecastTable } from "./ForecastTable";
import { ModelBanner } from "./ModelBanner";
import { ModelsPanel } from "./ModelsPanel";
import { OtherForecasts } from "./OtherForecasts";
import { useFleetForecasts, useForecastCounts } from "./queries";
import { useNearEnd } from "./useNearEnd";

interface Props {
  filters: ForecastFilters;
  onFilters: (filters: ForecastFilters) => void;
}

function Nothing({ filters, forecasts }: { filters: ForecastFilters; forecasts: number | undefined }) {
  if (filters.declining) return <EmptyState title="No RNIC is predicted to lose bandwidth" />;
  if (isFiltered(filters)) {
    return (
      <EmptyState title="No RNIC that matches these filters is expected to reach a limit">
        Clear the filters to see the whole fleet.
      </EmptyState>
    );
  }
  return forecasts === 0 ? (
    <EmptyState title="No forecast yet">
      None was made in the last 15 minutes. The first arrives within two minutes of the first samples; if none does,
      check that the forecast job is running.
    </EmptyState>
  ) : (
    <EmptyState title="No RNIC is at a limit or likely to reach one" />
  );
}

/** Which RNICs are at a limit or likely to reach one within the hour, and which lose bandwidth. */
export function ForecastsPage({ filters, onFilters }: Props) {
  const pages = useFleetForecasts(filters, true);
  const counts = useForecastCounts(filters);
  const onNearEnd = useNearEnd(pages);
  const client = useQueryClient();
  // One notice for the page: whatever keeps the list from coming keeps the rest, too.
  const failed = pages.data === undefined && pages.error !== null;
  const shown = pages.data?.length ?? 0;
  const withinText = filters.within === undefined ? "1 h" : `${filters.within} min`;
  const { at_limit, likely, others, declining } = counts.data ?? { at_limit: 0, likely: 0, others: 0, declining: 0 };
  return (
    <Stack gap={12}>
      <Title order={1}>Forecasts</Title>
      <Text size="sm" c="dimmed" maw={900}>
        RNICs at a hardware limit (a wall), and RNICs that reach one within the next hour with a chance of 50% or more.
      </Text>
      <ModelBanner />
      {!failed && <ForecastCounters counts={counts} withinText={withinText} />}
      <ForecastFilterBar filters={filters} onFilters={onFilters} declining={counts.data && declining} />
      {failed ? (
        <ProblemNotice error={pages.error} onRetry={() => void client.refetchQueries({ type: "active" })} />
      ) : (
        <>
          {!filters.declining && <ForecastTimeline items={pages.data ?? []} spanMin={filters.within ?? 60} />}
          <ListPanel
            title={filters.declining ? "Bandwidth declines" : "At a limit or likely to reach one"}
            aside={
              <Text size="sm" c="dimmed" role="status">
                {pages.data ? `${plural(shown, "RNIC")}${pages.hasNextPage ? " and more" : ""}` : ""}
              </Text>
            }
            pages={pages}
            long
            empty={<Nothing filters={filters} forecasts={counts.data && at_limit + likely + others} />}
            moreLabel="More RNICs"
          >
            {(items) => (
              <ForecastTable
                label="Forecasts"
                items={items}
                sorted={filters.sort ?? "time_to_wall"}
                onSort={(sort) => onFilters({ ...filters, sort: sort === "decline" ? sort : undefined })}
                onNearEnd={onNearEnd}
              />
            )}
          </ListPanel>
          {!filters.declining && !filters.wall && (
            <OtherForecasts count={others} withinText={withinText} filters={filters} onFilters={onFilters} />
          )}
          <ModelsPanel />
        </>
      )}
    </Stack>
  );
}
