import { Code, Table, Text } from "@mantine/core";
import type { HostOperation } from "@/lib/api/types";
import { operand } from "./paramsText";

/** Exactly what the agent does on the host, before and after. */
export function OperationList({ operations, done }: { operations: readonly HostOperation[]; done: boolean }) {
  if (operations.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {done ? "Done on the host" : "Will be done on the host"}
      </Text>
      <Table aria-label="Operations" withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Target</Table.Th>
            <Table.Th>Operation</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {operations.map((operation, i) => (
            <Table.Tr key={`${operation.target}${i}`} title={operation.text}>
              <Table.Td>
                <Code>{operation.target}</Code>
              </Table.Td>
              <Table.Td>{operation.operation}</Table.Td>
              <Table.Td>{operand(operation.before)}</Table.Td>
              <Table.Td fw={700}>{operand(operation.after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
