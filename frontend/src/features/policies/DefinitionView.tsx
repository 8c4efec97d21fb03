import { Code, Table, Text } from "@mantine/core";
import type { PolicyDefinition } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { useVocabulary } from "./queries";

/** A definition as it is read: its formula, and which events set each proposition. */
export function DefinitionView({ definition }: { definition: PolicyDefinition }) {
  const vocabulary = useVocabulary();
  const label = (kind: string) => vocabulary.data?.kinds.find((each) => each.kind === kind)?.label ?? kind;
  const { timer } = definition;
  return (
    <>
      <Code
        block
        fz="md"
        aria-label="Formula"
        mb={8}
        style={{ background: "var(--ww-raised)", color: "var(--ww-text)", whiteSpace: "pre-wrap" }}
      >
        {definition.formula}
      </Code>
      <HeadedTable label="Propositions" titles={["Proposition", "Holds when", "With"]}>
        {Object.entries(definition.propositions ?? {}).map(([name, { kind, when = {} }]) => (
          <Table.Tr key={name}>
            <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{name}</Table.Td>
            <Table.Td>{kind.map(label).join(", or ")}</Table.Td>
            <Table.Td>
              {Object.entries(when)
                .map(([field, value]) => `${field} = ${String(value)}`)
                .join(", ")}
            </Table.Td>
          </Table.Tr>
        ))}
        {timer && (
          <Table.Tr>
            <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{timer.name}</Table.Td>
            <Table.Td colSpan={2}>
              {formatDuration(timer.seconds * 1000)} after {timer.after}
              {timer.unless ? `, unless ${timer.unless} occurs first` : ""}
            </Table.Td>
          </Table.Tr>
        )}
      </HeadedTable>
      {definition.note && (
        <Text size="sm" c="dimmed" mt={6}>
          {definition.note}
        </Text>
      )}
    </>
  );
}
