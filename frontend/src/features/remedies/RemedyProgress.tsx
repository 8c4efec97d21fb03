import { Group, Progress, Stack, Text } from "@mantine/core";
import type { Remedy } from "@/lib/api/types";
import { formatExpected, formatValue } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { OperationList } from "./OperationList";
import { STATES, steps, type StepState } from "./progress";
import { RemedyStateMark } from "./RemedyStateMark";

const SIGNS: Record<StepState, string> = { done: "✓", current: "◉", todo: "○", bad: "✕" };
const COLORS: Record<StepState, string> = { done: "var(--ww-good)", current: "var(--ww-accent)", todo: "var(--ww-dim)", bad: "var(--ww-bad)" };

function VerificationState({ remedy }: { remedy: Remedy }) {
  const now = useNow();
  const check = remedy.verification;
  if (!check) return null;
  const left = Date.parse(check.deadline) - now;
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm">
          <b>{check.label}</b>: measured <b data-testid="measured">{formatValue(check.measured, check.unit)}</b>, expected {formatExpected(check.expected, check.unit)}
        </Text>
        <Text size="sm" c="dimmed">
          {remedy.state === "applied" ? (left > 0 ? `${formatDuration(left)} left` : "deadline reached") : ""}
        </Text>
      </Group>
      {remedy.state === "applied" && <Progress value={100} animated striped size="sm" aria-label="Verifying" />}
    </Stack>
  );
}

/** Where an order stands: the steps, the operations, and what telemetry says. */
export function RemedyProgress({ remedy }: { remedy: Remedy }) {
  return (
    <Stack gap={12} data-testid="remedy-progress" data-state={remedy.state}>
      {remedy.mode === "apply" && (
        <Group gap={20} component="ol" p={0} m={0} style={{ listStyle: "none" }} aria-label="Progress">
          {steps(remedy.state).map((step) => (
            <Text key={step.label} component="li" size="sm" fw={step.state === "todo" ? 400 : 600} style={{ color: COLORS[step.state] }} aria-current={step.state === "current" ? "step" : undefined}>
              {SIGNS[step.state]} {step.label}
            </Text>
          ))}
        </Group>
      )}
      <Group gap={10} wrap="nowrap" role="status">
        <RemedyStateMark state={remedy.state} />
        <Text size="sm">
          {STATES[remedy.state].text} {remedy.message ?? ""} {remedy.code ? `(${remedy.code})` : ""}
        </Text>
      </Group>
      {remedy.mode === "apply" && <VerificationState remedy={remedy} />}
      <OperationList operations={remedy.operations} done={remedy.mode === "apply" && ["applied", "verified", "not_verified"].includes(remedy.state)} />
    </Stack>
  );
}
