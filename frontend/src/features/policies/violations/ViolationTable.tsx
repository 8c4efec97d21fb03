import { Table, Text, UnstyledButton } from "@mantine/core";
import type { PolicyViolation } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";

interface Props {
  violations: readonly PolicyViolation[];
  selected: string | undefined;
  onSelect: (id: string) => void;
}

function traceText(violation: PolicyViolation): string {
  if (violation.left_out > 0) return `${plural(violation.left_out, "more violation")} in this period`;
  const own = violation.trace.filter(({ propositions }) => propositions.length > 0);
  return `${violation.cut || own.length > 3 ? "… " : ""}${own
    .slice(-3)
    .map(({ propositions }) => propositions.join("+"))
    .join(", then ")}`;
}

export function ViolationTable({ violations, selected, onSelect }: Props) {
  const { time } = useTimeFormat();
  return (
    <HeadedTable label="Violations" titles={["At", "Host", "Subject", "Trace"]}>
      {violations.map((violation) => (
        <Table.Tr
          key={violation.id}
          data-violation={violation.id}
          bg={violation.id === selected ? "var(--ww-raised)" : undefined}
        >
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <UnstyledButton
              fz="sm"
              style={{ color: "var(--ww-accent)", textDecoration: "underline" }}
              aria-expanded={violation.id === selected}
              onClick={() => onSelect(violation.id)}
            >
              {time(violation.at)}
            </UnstyledButton>
          </Table.Td>
          <Table.Td>
            {violation.host}
            {violation.inhibited_by && (
              <Text size="xs" c="dimmed">
                inhibited by a remedy
              </Text>
            )}
          </Table.Td>
          <Table.Td style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem", overflowWrap: "anywhere" }}>
            {violation.subject}
          </Table.Td>
          <Table.Td style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem" }}>{traceText(violation)}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
