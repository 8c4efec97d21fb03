import { ActionIcon, Button, Group, Table, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { SloRule } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { conditionsText } from "./labels";
import { moved, unreachableFrom } from "./rulesDraft";

interface Props {
  rules: readonly SloRule[];
  mayChange: boolean;
  onRules: (rules: SloRule[]) => void;
  onEdit: (at: number) => void;
}

/** The rules in order: the first that matches a VF assigns its class. */
export function RuleTable({ rules, mayChange, onRules, onEdit }: Props) {
  const unreachable = unreachableFrom(rules);
  return (
    <HeadedTable label="Rules" titles={["Order", "VFs where", "Class", ...(mayChange ? ["Actions"] : [])]}>
      {rules.map((rule, i) => (
        <Table.Tr key={`${i}|${rule.slo_class}|${conditionsText(rule)}`} data-rule={i}>
          <Table.Td w={70}>{i + 1}</Table.Td>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            {conditionsText(rule)}
            {i >= unreachable && (
              <Text size="xs" style={{ color: "var(--ww-warn)" }}>
                ▲ Never used: rule {unreachable} matches every VF.
              </Text>
            )}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <b>{rule.slo_class}</b>
          </Table.Td>
          {mayChange && (
            <Table.Td w={230}>
              <Group gap={6} wrap="nowrap">
                <ActionIcon
                  variant="default"
                  aria-label={`Move rule ${i + 1} up`}
                  disabled={i === 0}
                  onClick={() => onRules(moved(rules, i, -1))}
                >
                  <IconArrowUp size={14} />
                </ActionIcon>
                <ActionIcon
                  variant="default"
                  aria-label={`Move rule ${i + 1} down`}
                  disabled={i === rules.length - 1}
                  onClick={() => onRules(moved(rules, i, 1))}
                >
                  <IconArrowDown size={14} />
                </ActionIcon>
                <Button size="compact-xs" variant="default" aria-label={`Edit rule ${i + 1}`} onClick={() => onEdit(i)}>
                  Edit…
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Delete rule ${i + 1}`}
                  onClick={() => onRules(rules.filter((_, at) => at !== i))}
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
