import { Table, Text } from "@mantine/core";
import type { SymptomDefinition } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { boundText, ROLES } from "./bounds";

/** Signals with their windows and thresholds; between the two thresholds lies the hysteresis. */
export function ConditionTable({ conditions }: { conditions: SymptomDefinition["conditions"] }) {
  return (
    <HeadedTable label="Conditions" titles={["Signal", "Role", "Window", "Begins when", "Ends when", "Why"]}>
      {conditions.map((condition, i) => (
        <Table.Tr key={`${condition.signal}${i}`}>
          <Table.Td>
            {condition.label}
            {condition.alternative && (
              <Text size="xs" c="dimmed">
                one of “{condition.alternative.replaceAll("_", " ")}” is enough
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <b>{condition.role}</b>
            <Text size="xs" c="dimmed">
              {ROLES[condition.role] ?? ""}
            </Text>
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {condition.statistic} of {formatDuration(condition.window_s * 1000)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{boundText(condition.raise, condition.unit)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{boundText(condition.clear, condition.unit)}</Table.Td>
          <Table.Td>{condition.text}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
