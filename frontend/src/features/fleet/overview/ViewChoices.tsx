import { Select, Stack } from "@mantine/core";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { type FleetView, GROUPS, limitsOf, RATES } from "./view";

const NEAREST = "nearest";

interface Props {
  view: FleetView;
  onView: (view: FleetView) => void;
}

/** What the view's menu offers; fetched when it is opened. */
export function ViewChoices({ view, onView }: Props) {
  const { data } = useCatalogue();
  const limits = limitsOf(data?.walls ?? []).map(({ id, label }) => ({ value: `limit:${id}`, label }));
  return (
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
  );
}
