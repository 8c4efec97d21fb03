import { Code, Group, Stack, Table, Text } from "@mantine/core";
import type { CounterExample, PlanProof } from "@/lib/api/types";
import { formatNumber, plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";

function Treated({ label, as }: { label: string; as: CounterExample["before"] }) {
  return (
    <Text size="sm">
      <b>{label}</b> <Code>{as.actions || "none: no rule matches"}</Code>
      {as.flow ? ` by the flow of line ${as.flow.line}${as.flow.ufid ? ` (${as.flow.ufid})` : ""}` : ""}
    </Text>
  );
}

/** A packet that would be forwarded differently, as its header's fields. */
export function CounterExampleView({ example }: { example: CounterExample }) {
  return (
    <Stack gap={6} role="group" aria-label="Counter-example">
      <Text size="sm">This packet would be forwarded differently; fields not listed may have any value.</Text>
      <HeadedTable label="The packet" titles={["Field", "Value"]} bordered>
        {Object.entries(example.packet).map(([field, value]) => (
          <Table.Tr key={field}>
            <Table.Td w={220}>
              <Code>{field}</Code>
            </Table.Td>
            <Table.Td ff="monospace">{value}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      <Treated label="Before:" as={example.before} />
      <Treated label="After:" as={example.after} />
      {example.assumes.map((each) => (
        <Text key={each} size="sm" c="dimmed">
          Assumes {each}
        </Text>
      ))}
    </Stack>
  );
}

const VERDICTS = {
  equivalent: { tone: "good", label: "Proven equivalent" },
  different: { tone: "bad", label: "Refused: not equivalent" },
  undecided: { tone: "warn", label: "Refused: undecided" },
} as const;

/** What is proven, of what, and the packet that contradicts it. */
export function ProofPanel({ proof, released }: { proof: PlanProof; released: number }) {
  const verdict = VERDICTS[proof.verdict];
  return (
    <Panel title="Proof">
      <Stack gap={8}>
        <Group gap={10}>
          <StatusMark tone={verdict.tone}>{verdict.label}</StatusMark>
          <Text size="sm">
            {proof.equivalent
              ? "For every packet header that matches anything before or after, the actions are the same."
              : proof.reason || "A plan that is not proven cannot be applied."}
          </Text>
        </Group>
        {proof.equivalent && released > 0 && (
          <Text size="sm">
            Packets that match only flows that are not re-added are handled in software, where Open vSwitch applies the
            same rules as before.
          </Text>
        )}
        <Text size="sm" c="dimmed">
          {plural(proof.flows_before, "flow")} in {plural(proof.masks_before, "mask")} before,{" "}
          {formatNumber(proof.flows_after)} in {formatNumber(proof.masks_after)} after;{" "}
          {plural(proof.contested_pairs, "overlap")} with different actions checked, in {formatNumber(proof.took_ms)}{" "}
          ms.
          {proof.opaque_fields.length > 0 ? ` Nothing is assumed about ${proof.opaque_fields.join(", ")}.` : ""}
        </Text>
        {proof.counterexample && <CounterExampleView example={proof.counterexample} />}
      </Stack>
    </Panel>
  );
}
