import { Code, Table, Text } from "@mantine/core";
import type { HostOperation } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { operand } from "./paramsText";

/** Exactly what the agent does on the host, before and after. */
export function OperationList({ operations, done }: { operations: readonly HostOperation[]; done: boolean }) {
  if (operations.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {done ? "Done on the host" : "Will be done on the host"}
      </Text>
      <HeadedTable label="Operations" titles={["Target", "Operation", "Before", "After"]} bordered>
        {operations.map((operation, i) => (
          <Table.Tr key={`${operation.target}${i}`} title={operation.text}>
            <Table.Td>
              <Code style={{ overflowWrap: "anywhere" }}>{operation.target}</Code>
            </Table.Td>
            <Table.Td>{operation.operation}</Table.Td>
            <Table.Td>{operand(operation.before)}</Table.Td>
            <Table.Td fw={700}>{operand(operation.after)}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
    </div>
  );
}
