import { Button, Group, Table, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import type { Ref } from "react";
import type { IncidentGroup } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { plural } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { StatusMark } from "@/lib/ui/StatusMark";
import type { Grouping } from "../filters/filters";
import { groupTitle } from "./groups";
import classes from "./GroupHead.module.css";

interface HeadProps {
  ref: Ref<HTMLTableRowElement>;
  index: number;
  columns: number;
  by: Grouping;
  group: IncidentGroup;
  open: boolean;
  now: number;
  onToggle: (value: string, open: boolean) => void;
}

/** The line above the incidents of a group, which opens and closes it. */
export function GroupHead({ ref, index, columns, by, group, open, now, onToggle }: HeadProps) {
  const title = groupTitle(by, group.value, useNames().symptom);
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <Table.Tr
      ref={ref}
      data-index={index}
      data-group={group.value}
      aria-rowindex={index + 2}
      className={classes["head"]}
    >
      <Table.Th colSpan={columns} scope="rowgroup">
        <UnstyledButton aria-expanded={open} className={classes["toggle"]} onClick={() => onToggle(group.value, !open)}>
          <Chevron size={14} aria-hidden="true" />
          <span className={classes["title"]}>{title}</span>
          <Text span size="sm" c="dimmed">
            {plural(group.incidents, "incident")}
          </Text>
          {group.critical > 0 && (
            <StatusMark tone="bad">{`${group.critical.toLocaleString("en")} critical`}</StatusMark>
          )}
          <Text span size="xs" c="dimmed" className={classes["newest"]}>
            newest {formatAgo(group.newest, now)}
          </Text>
        </UnstyledButton>
      </Table.Th>
    </Table.Tr>
  );
}

interface RestProps {
  ref: Ref<HTMLTableRowElement>;
  index: number;
  columns: number;
  group: IncidentGroup;
  loading: boolean;
  count: number;
  onMore: (value: string) => void;
}

/** The line below the loaded incidents of a group, when it has more. */
export function GroupRest({ ref, index, columns, group, loading, count, onMore }: RestProps) {
  return (
    <Table.Tr ref={ref} data-index={index} aria-rowindex={index + 2}>
      <Table.Td colSpan={columns}>
        {loading ? (
          <Text size="sm" c="dimmed" role="status" aria-label="Loading" aria-busy="true" pl={34}>
            Loading…
          </Text>
        ) : (
          <Group pl={26}>
            <Button size="compact-sm" variant="subtle" onClick={() => onMore(group.value)}>
              Show more ({count.toLocaleString("en")} not shown)
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
