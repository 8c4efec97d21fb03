import { Code, Group, Stack, Table, Text } from "@mantine/core";
import type { HostOperation, Remedy } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { outcomeOf, sentenceOf } from "@/lib/states";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StateMark } from "@/lib/ui/StateMark";
import { operand } from "../paramsText";
import { isChangedOnHost, steps, type StepState } from "../steps";
import { RemedyFacts } from "./RemedyFacts";

/** Exactly what the agent does on the host, before and after. */
function OperationList({ operations, done }: { operations: readonly HostOperation[]; done: boolean }) {
  if (operations.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {done ? "Changed on the host" : "Planned changes on the host"}
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

const SIGNS: Record<StepState, string> = { done: "✓", current: "◉", todo: "○", bad: "✕" };
const COLORS: Record<StepState, string> = {
  done: "var(--ww-good)",
  current: "var(--ww-accent)",
  todo: "var(--ww-dim)",
  bad: "var(--ww-bad)",
};

/** Where an order stands: the steps, its two facts, and the operations. */
export function RemedyProgress({ remedy }: { remedy: Remedy }) {
  const states = useStates("remedy");
  const { state } = remedy;
  // The sentence of `planned` names the dry run itself.
  const subject = remedy.mode === "dry_run" && state !== "planned" ? "The dry run" : "The remedy";
  return (
    <Stack gap={12} data-testid="remedy-progress" data-state={remedy.state}>
      {remedy.mode === "apply" && (
        <Group gap={20} component="ol" p={0} m={0} style={{ listStyle: "none" }} aria-label="Progress">
          {steps(states, remedy).map((step) => (
            <Text
              key={step.label}
              component="li"
              size="sm"
              fw={step.state === "todo" ? 400 : 600}
              style={{ color: COLORS[step.state] }}
              aria-current={step.state === "current" ? "step" : undefined}
            >
              {SIGNS[step.state]} {step.label}
            </Text>
          ))}
        </Group>
      )}
      <Group gap={10} wrap="nowrap" role="status">
        <StateMark machine="remedy" state={state} />
        <Text size="sm">
          {sentenceOf(states, state, subject)} {remedy.message ?? ""} {remedy.code ? `(${remedy.code})` : ""}
          {remedy.undoable && outcomeOf(states, state) === "bad" ? " Undo it, or check the next cause." : ""}
        </Text>
      </Group>
      {remedy.mode === "apply" && <RemedyFacts remedy={remedy} />}
      <OperationList operations={remedy.operations} done={remedy.mode === "apply" && isChangedOnHost(remedy)} />
    </Stack>
  );
}
