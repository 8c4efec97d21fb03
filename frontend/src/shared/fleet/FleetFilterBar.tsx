import { Button, Group, MultiSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useSymptomChoices } from "@/lib/api/useCatalogue";
import { distinct } from "@/lib/distinct";
import { BANDS } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import classes from "./FleetFilterBar.module.css";
import { type FleetFilters, fromList, isFiltered, toList } from "./filters";

interface Props {
  columns: Columns;
  shape: number;
  filters: FleetFilters;
  onFilters: (filters: FleetFilters) => void;
  /** More of the page's controls, in the same line. */
  children?: ReactNode;
}

const SHOWN_OPTIONS = 200;

/** Every filter is in the URL, so that a link shows a colleague the same RNICs. `/` focuses the text. */
export function FleetFilterBar({ columns, shape, filters, onFilters, children }: Props) {
  const options = useMemo(
    () => ({ rack: distinct(columns.rack), host: distinct(columns.host), model: distinct(columns.model) }),
    [columns, shape], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const symptoms = useSymptomChoices();
  const [open, setOpen] = useState(false);
  const chosen = [filters.rack, filters.host, filters.model, filters.symptom, filters.use].flatMap(toList).length;
  const [text, setText] = useState(filters.q ?? "");
  useEffect(() => setText(filters.q ?? ""), [filters.q]);
  const search = useDebouncedCallback((q: string) => onFilters({ ...filters, q: q.trim() || undefined }), 150);
  const list = (
    key: "rack" | "host" | "model" | "symptom" | "use",
    label: string,
    data: { value: string; label: string }[] | string[],
  ) => (
    <MultiSelect
      aria-label={`Filter by ${label}`}
      placeholder={filters[key] ? undefined : label}
      data={data}
      limit={SHOWN_OPTIONS}
      searchable
      clearable
      hidePickedOptions
      w={filters[key] ? undefined : 118}
      miw={118}
      value={toList(filters[key])}
      onChange={(values) => onFilters({ ...filters, [key]: fromList(values) })}
      clearButtonProps={{ "aria-label": `Clear ${label}` }}
    />
  );
  return (
    <Group gap={8} role="search" aria-label="Filter the fleet" align="flex-start">
      <TextInput
        data-focus-filter
        aria-label="Filter by text"
        placeholder="host, PCI, model …  ( / )"
        w={190}
        className={classes["text"]}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          search(event.currentTarget.value);
        }}
      />
      <Button variant="default" className={classes["toggle"]} aria-expanded={open} onClick={() => setOpen(!open)}>
        {chosen > 0 ? `Filters (${chosen})` : "Filters"}
      </Button>
      <div className={classes["lists"]} data-open={open || undefined}>
        {list("rack", "rack", options.rack)}
        {list("host", "host", options.host)}
        {list("model", "model", options.model)}
        {list("symptom", "symptom", [
          { value: "any", label: "any symptom" },
          ...symptoms,
          { value: "recent", label: "recently cleared" },
          { value: "none", label: "no symptoms" },
        ])}
        {list(
          "use",
          "limit use",
          BANDS.map((b) => ({ value: b.band, label: b.label })),
        )}
      </div>
      <Button
        variant={filters.sick ? "filled" : "default"}
        aria-pressed={filters.sick !== undefined}
        onClick={() => onFilters({ ...filters, sick: filters.sick ? undefined : "1" })}
      >
        Only sick
      </Button>
      {children}
      {isFiltered(filters) && (
        <Button variant="subtle" leftSection={<IconX size={14} />} onClick={() => onFilters({})}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}
