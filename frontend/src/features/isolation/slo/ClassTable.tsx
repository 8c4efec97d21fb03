import { Button, Group, Table, Text } from "@mantine/core";
import type { SloClass } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { delayText, lossText, rateText } from "../text";

interface Props {
  classes: readonly SloClass[];
  mayChange: boolean;
  onEdit: (known: SloClass) => void;
  onDelete: (known: SloClass) => void;
}

const WRAP = { whiteSpace: "nowrap" } as const;

export function ClassTable({ classes, mayChange, onEdit, onDelete }: Props) {
  return (
    <HeadedTable
      label="SLO classes"
      titles={[
        "Class",
        "Guaranteed",
        "At most",
        "Delay p50",
        "Delay p99",
        "Loss",
        "Assigned by",
        ...(mayChange ? ["Actions"] : []),
      ]}
    >
      {classes.map((each) => (
        <Table.Tr key={each.name} data-class={each.name}>
          <Table.Td maw={320} style={{ overflowWrap: "anywhere" }}>
            <Text size="sm" fw={600}>
              {each.name}
            </Text>
            {each.description && (
              <Text size="xs" c="dimmed">
                {each.description}
              </Text>
            )}
          </Table.Td>
          <Table.Td style={WRAP}>{rateText(each.min_mbps)}</Table.Td>
          <Table.Td style={WRAP}>{rateText(each.max_mbps)}</Table.Td>
          <Table.Td style={WRAP}>{delayText(each.p50_us)}</Table.Td>
          <Table.Td style={WRAP}>{delayText(each.p99_us)}</Table.Td>
          <Table.Td style={WRAP}>{lossText(each.loss)}</Table.Td>
          <Table.Td style={WRAP}>{each.rules === 0 ? "no rule" : plural(each.rules, "rule")}</Table.Td>
          {mayChange && (
            <Table.Td>
              <Group gap={6} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Edit class ${each.name}`}
                  onClick={() => onEdit(each)}
                >
                  Edit…
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Delete class ${each.name}`}
                  disabled={each.rules > 0}
                  title={each.rules > 0 ? "A rule assigns it: change or delete the rule first" : undefined}
                  onClick={() => onDelete(each)}
                >
                  Delete
                </Button>
              </Group>
            </Table.Td>
          )}
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
