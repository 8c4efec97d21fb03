import { Button, Checkbox, Popover, Select, Stack } from "@mantine/core";
import { SearchField } from "@/lib/ui/SearchField";
import type { IncidentFilters } from "./filters";

const FIELDS = [
  ["assignee", "Assignee", "me, or a name"],
  ["pci", "PCI address", "0000:3b:00.0"],
  ["model", "Model", "CX-6"],
  ["fw_ver", "Firmware", "22.36.1010"],
] as const;

/** The filters that are used less. The button says how many of them are set, so that none is forgotten. */
export function MoreFilters({
  filters,
  onFilters,
}: {
  filters: IncidentFilters;
  onFilters: (filters: IncidentFilters) => void;
}) {
  const set = [
    ...FIELDS.map(([key]) => filters[key]),
    filters.active,
    filters.unassigned,
    filters.suppressed_by,
    filters.inhibited_by,
  ].filter((value) => value !== undefined).length;
  return (
    <Popover width={240} position="bottom-end" withArrow trapFocus>
      <Popover.Target>
        <Button variant="default">{set > 0 ? `More filters (${set})` : "More filters"}</Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="More filters">
        <Stack gap={8}>
          {FIELDS.map(([key, label, placeholder]) => (
            <SearchField
              key={key}
              label={label}
              placeholder={`${label.toLowerCase()}: ${placeholder}`}
              width={214}
              value={filters[key]}
              onValue={(value) => onFilters({ ...filters, [key]: value })}
            />
          ))}
          <Checkbox
            label="Assigned to nobody"
            title="Nor to somebody who cannot sign in any more"
            checked={filters.unassigned === "yes"}
            onChange={(event) => onFilters({ ...filters, unassigned: event.currentTarget.checked ? "yes" : undefined })}
          />
          <Select
            aria-label="Symptom present"
            placeholder="symptom present or cleared"
            clearable
            data={[
              { value: "yes", label: "symptom present now" },
              { value: "no", label: "symptom cleared" },
            ]}
            value={filters.active ?? null}
            onChange={(value) =>
              onFilters({ ...filters, active: value === "yes" || value === "no" ? value : undefined })
            }
            comboboxProps={{ withinPortal: false }}
            clearButtonProps={{ "aria-label": "Clear symptom present" }}
          />
          {filters.suppressed_by !== undefined && (
            <Button variant="default" onClick={() => onFilters({ ...filters, suppressed_by: undefined })}>
              Any silence
            </Button>
          )}
          {filters.inhibited_by !== undefined && (
            <Button variant="default" onClick={() => onFilters({ ...filters, inhibited_by: undefined })}>
              Any remedy
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
