import { Button, Popover, Skeleton } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { type FleetView, GROUPS, limitOf, limitsOf, RATES } from "./view";

const ViewChoices = lazy(() => import("./ViewChoices").then((module) => ({ default: module.ViewChoices })));

interface Props {
  view: FleetView;
  onView: (view: FleetView) => void;
}

/** How tiles are grouped, coloured and ordered; the button says what differs from the usual. */
export function ViewMenu({ view, onView }: Props) {
  const { data } = useCatalogue();
  const walls = limitsOf(data?.walls ?? []);
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
        <Suspense fallback={<Skeleton h={190} w={220} />}>
          <ViewChoices view={view} onView={onView} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
