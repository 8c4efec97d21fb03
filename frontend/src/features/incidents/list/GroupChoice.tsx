import { ActionIcon, Group, Select, Tooltip } from "@mantine/core";
import { IconFold, IconLayoutList } from "@tabler/icons-react";
import { type Grouping, GROUPINGS } from "../filters/filters";

interface Props {
  by: Grouping | undefined;
  onGroup: (by: Grouping | undefined) => void;
  onAll: (open: boolean) => void;
}

/** By what the list is grouped; `None` is the plain list. */
export function GroupChoice({ by, onGroup, onAll }: Props) {
  return (
    <Group gap={6} wrap="nowrap">
      {by !== undefined && (
        <>
          <Tooltip label="Expand all groups">
            <ActionIcon variant="subtle" color="gray" aria-label="Expand all groups" onClick={() => onAll(true)}>
              <IconLayoutList size={15} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Collapse all groups">
            <ActionIcon variant="subtle" color="gray" aria-label="Collapse all groups" onClick={() => onAll(false)}>
              <IconFold size={15} />
            </ActionIcon>
          </Tooltip>
        </>
      )}
      <Select
        aria-label="Group by"
        size="xs"
        w={150}
        allowDeselect={false}
        value={by ?? "none"}
        data={[
          { value: "none", label: "No grouping" },
          ...Object.entries(GROUPINGS).map(([value, label]) => ({ value, label: `By ${label.toLowerCase()}` })),
        ]}
        onChange={(value) => onGroup(value === "none" || value === null ? undefined : (value as Grouping))}
      />
    </Group>
  );
}
