import { Stack, Text } from "@mantine/core";
import type { RemedyAction } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { CodeWords } from "@/lib/ui/CodeWords";
import { StatusMark } from "@/lib/ui/StatusMark";

/** What an action should gain and risks, reaches, touches and needs, how it is proven and how it is taken back. */
export function ActionFacts({ action, reach }: { action: RemedyAction; reach: string | null }) {
  const check = action.verification;
  return (
    <Stack gap={4}>
      {check.text && (
        <Text size="sm">
          <b>Should gain:</b> {check.text}
        </Text>
      )}
      <StatusMark tone={action.risk === "low" ? "good" : action.risk === "medium" ? "warn" : "bad"}>{`Risk: ${action.risk}`}</StatusMark>
      <Text size="sm">{action.risk_text}</Text>
      {action.disturbs !== null && (
        <Text size="sm">
          <b>Inhibits</b> {action.disturbs.symptoms.join(", ")} that begin there while it or its undo runs, until {formatDuration(action.disturbs.settle_s * 1000)} after its end. {action.disturbs.why}
        </Text>
      )}
      {action.needs_approval && (
        <Text size="sm">
          <b>Approval:</b> somebody else has to approve it before it reaches the host.
        </Text>
      )}
      {reach !== null && <Text size="sm">{reach}</Text>}
      <Text size="sm">
        <b>Touches</b> <CodeWords>{action.operations}</CodeWords>
      </Text>
      <Text size="sm">
        <b>Needs</b> {action.privileges}
      </Text>
      <Text size="sm">
        <b>Verified by</b> {check.label} {formatExpected(check.expected, check.unit)}
        {check.for_s > 0 ? ` for ${formatDuration(check.for_s * 1000)}` : ""}, within {formatDuration(check.within_s * 1000)}.
      </Text>
      <Text size="sm">
        <b>Undo:</b> {action.undo}
      </Text>
    </Stack>
  );
}
