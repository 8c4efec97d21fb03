import { Button, Popover, Select, Stack } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { CONTENTION, type FleetView, GROUPS, limitOf, RATES } from "./view";

const NEAREST = "nearest";

interface Props {
  view: FleetView;
  onView: (view: FleetView) => void;
}

/** How tiles are grouped, coloured and ordered; the button says what differs from the usual. */
export function ViewMenu({ view, onView }: Props) {
  const { data } = useCatalogue();
  const walls = [...(data?.walls ?? []), { id: CONTENTION, label: "SLAs of network functions" }];
  const limits = walls.map(({ id, label }) => ({ value: `limit:${id}`, label }));
  const group = GROUPS.find(({ value }) => value === view.group);
  const rate = RATES.find(({ value }) => value === view.colour);
  const limit = walls.find(({ id }) => id === limitOf(view))?.label;
  const parts = [
    group && `by ${group.label.toLowerCase()}`,
    rate?.label ?? limit,
    view.order === "sick" ? "sick first" : undefined,
  ].filter((part) => part !== undefined);
  return (
    <Popover position="bottom-end" shadow="md" withinPortal>
      <Popover.Target>
        <Button variant="default" leftSection={<IconAdjustments size={14} />}>
          {parts.length > 0 ? `View: ${parts.join(", ")}` : "View"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={8} w={220}>
          <Select
            label="Group by"
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
            value={view.group ?? "rack"}
            data={[...GROUPS]}
            onChange={(value) =>
              onView({ ...view, group: GROUPS.find((each) => each.value === value && value !== "rack")?.value })
            }
          />
          <Select
            label="Colour by"
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
            value={view.colour ?? NEAREST}
            data={[
              { group: "Limit", items: [{ value: NEAREST, label: "Nearest limit" }, ...limits] },
              { group: "Rate", items: [...RATES] },
            ]}
            onChange={(value) => onView({ ...view, colour: value === null || value === NEAREST ? undefined : value })}
          />
          <Select
            label="Order"
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
            value={view.order ?? "name"}
            data={[
              { value: "name", label: "By name" },
              { value: "sick", label: "Sick first" },
            ]}
            onChange={(value) => onView({ ...view, order: value === "sick" ? "sick" : undefined })}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
