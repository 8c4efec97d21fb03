import { Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Policy, PolicyDefinition, PolicyViolation } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { RemedyLink } from "@/shared/remedies/RemedyLink";
import { useCheck, useViolation } from "../queries";
import { TraceStepper } from "./TraceStepper";

/** The policy's definition when it was violated; undefined when that version is no longer known. */
export function definitionThen(policy: Policy, violation: PolicyViolation): PolicyDefinition | undefined {
  if (violation.version === null) return undefined;
  if (violation.version === 0) return policy.definition;
  return policy.versions.find(({ number }) => number === violation.version)?.definition;
}

function Shown({ policy, violation }: { policy: Policy; violation: PolicyViolation }) {
  const { time } = useTimeFormat();
  const definition = definitionThen(policy, violation);
  const check = useCheck(definition);
  return (
    <>
      <Text size="sm" fw={600}>
        {violation.text}
      </Text>
      <Text size="sm" c="dimmed" mb={8}>
        {time(violation.at)} ·{" "}
        {violation.host && violation.pci ? (
          <Link to="/rnics/$host/$pci" params={{ host: violation.host, pci: violation.pci }}>
            {violation.host} {violation.pci}
          </Link>
        ) : (
          violation.host
        )}
        {violation.subject ? ` · ${violation.subject}` : ""}
        {violation.version ? ` · version ${violation.version}` : ""}
      </Text>
      {violation.inhibited_by && (
        <Text size="sm" mb={8} role="note">
          ∅ Inhibited: likely a side effect of a remedy (<RemedyLink id={violation.inhibited_by} />
          ), so it is not counted.
        </Text>
      )}
      {violation.left_out > 0 ? (
        <Text size="sm">
          Truncated by the host: {violation.left_out.toLocaleString("en")} more violations are counted but not listed.
        </Text>
      ) : (
        <TraceStepper key={violation.id} automaton={definition ? check.data?.automaton : null} violation={violation} />
      )}
    </>
  );
}

/** One violation: how it came to it. */
export function ViolationPanel({ policy, id, onClose }: { policy: Policy; id: string; onClose: () => void }) {
  const violation = useViolation(policy.id, id);
  return (
    <Panel
      title="Violation"
      actions={
        <Group gap={6}>
          <Button size="compact-xs" variant="default" onClick={onClose}>
            Close
          </Button>
        </Group>
      }
    >
      <QueryState query={violation} lines={8}>
        {(data) => <Shown policy={policy} violation={data} />}
      </QueryState>
    </Panel>
  );
}
