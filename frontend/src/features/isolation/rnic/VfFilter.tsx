import { Group, SegmentedControl } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { SearchField } from "@/lib/ui/SearchField";
import { SHOWN, type VfsView } from "./view";

const CHOICES = [
  { value: "all", label: "All" },
  { value: "affected", label: "Affected" },
  { value: "promised", label: "With an SLO" },
];

export function VfFilter({ view, onView }: { view: VfsView; onView: (view: VfsView) => void }) {
  return (
    <Group gap={8} role="search" aria-label="Filter virtual functions">
      <SearchField
        first
        label="Search virtual functions"
        placeholder="Pod, tenant, SLO, VF …  ( / )"
        width={220}
        icon={<IconSearch size={14} />}
        value={view.q}
        onValue={(q) => onView({ ...view, q })}
      />
      <SegmentedControl
        aria-label="Which virtual functions"
        value={view.show ?? "all"}
        onChange={(value) => onView({ ...view, show: SHOWN.find((each) => each === value) })}
        data={CHOICES}
      />
    </Group>
  );
}
