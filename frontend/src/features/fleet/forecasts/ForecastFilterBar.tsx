import { Button, Checkbox, Group, SegmentedControl, Select } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { distinct } from "@/lib/distinct";
import { useFleet } from "@/lib/stream/useFleet";
import { type ForecastFilters, isFiltered, WITHIN_MIN } from "./filters";

interface Props {
  filters: ForecastFilters;
  onFilters: (filters: ForecastFilters) => void;
  /** RNICs with a predicted decline of bandwidth; undefined until they are counted. */
  declining: number | undefined;
}

const SHOWN_OPTIONS = 200;

/** Every filter is in the URL, so that a link shows a colleague the same list. */
export function ForecastFilterBar({ filters, onFilters, declining }: Props) {
  const walls = useCatalogue().data?.walls ?? [];
  const { columns, shape } = useFleet().state;
  const options = useMemo(
    () => ({ rack: distinct(columns.rack), model: distinct(columns.model) }),
    [columns, shape], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const choose = (key: "wall" | "rack" | "model", data: { value: string; label: string }[] | string[]) => (
    <Select
      aria-label={`Filter by ${key}`}
      placeholder={key}
      data={data}
      limit={SHOWN_OPTIONS}
      searchable
      clearable
      w={key === "wall" ? 190 : 120}
      value={filters[key] ?? null}
      onChange={(value) => onFilters({ ...filters, [key]: value ?? undefined })}
      clearButtonProps={{ "aria-label": `Clear ${key}` }}
    />
  );
  return (
    <Group gap={12} role="search" aria-label="Filter forecasts">
      <SegmentedControl
        aria-label="Within"
        value={String(filters.within ?? 60)}
        onChange={(value) => onFilters({ ...filters, within: value === "60" ? undefined : Number(value) })}
        data={WITHIN_MIN.map((minutes) => ({ value: String(minutes), label: `${minutes} min` }))}
      />
      {choose(
        "wall",
        walls.map(({ id, label }) => ({ value: id, label })),
      )}
      {choose("rack", options.rack)}
      {choose("model", options.model)}
      <Checkbox
        label={declining === undefined ? "Bandwidth declines only" : `Bandwidth declines only (${declining})`}
        checked={filters.declining === true}
        onChange={(event) => onFilters({ ...filters, declining: event.currentTarget.checked ? true : undefined })}
      />
      {isFiltered(filters) && (
        <Button
          variant="subtle"
          leftSection={<IconX size={14} />}
          onClick={() => onFilters({ within: filters.within, sort: filters.sort })}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}
