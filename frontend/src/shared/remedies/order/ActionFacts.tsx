import { Code, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { RemedyAction } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";
import { StatusMark } from "@/lib/ui/StatusMark";

/** A sentence of the catalogue; what stands between backticks is shown as what one types. */
function CodeWords({ children }: { children: string }) {
  return (
    <>
      {children.split("`").map((part, i) => (
        <Fragment key={i}>{i % 2 === 1 ? <Code>{part}</Code> : part}</Fragment>
      ))}
    </>
  );
}

/** The expected effect, risk, scope, changes and privileges of an action, how it is confirmed and how it is undone. */
export function ActionFacts({ action, reach }: { action: RemedyAction; reach: string | null }) {
  const check = action.verification;
  return (
    <Stack gap={4}>
      {check.text && (
        <Text size="sm">
          <b>Expected effect:</b> {check.text}
        </Text>
      )}
      <StatusMark
        tone={action.risk === "low" ? "good" : action.risk === "medium" ? "warn" : "bad"}
      >{`Risk: ${action.risk}`}</StatusMark>
      <Text size="sm">{action.risk_text}</Text>
      {action.disturbs !== null && (
        <Text size="sm">
          <b>Inhibits</b> {action.disturbs.symptoms.join(", ")} that start there while it or its undo runs, and until{" "}
          {formatDuration(action.disturbs.settle_s * 1000)} after its end. {action.disturbs.why}
        </Text>
      )}
      {action.needs_approval && (
        <Text size="sm">
          <b>Approval:</b> a second person must approve it before it reaches the host.
        </Text>
      )}
      {reach !== null && <Text size="sm">{reach}</Text>}
      <Text size="sm">
        <b>Changes</b> <CodeWords>{action.operations}</CodeWords>
      </Text>
      <Text size="sm">
        <b>Requires</b> {action.privileges}
      </Text>
      <Text size="sm">
        <b>Confirmed by</b> {check.label} {formatExpected(check.expected, check.unit)}
        {check.for_s > 0 ? ` for ${formatDuration(check.for_s * 1000)}` : ""}, within{" "}
        {formatDuration(check.within_s * 1000)}.
      </Text>
      <Text size="sm">
        <b>Undo:</b> {action.undo}
      </Text>
    </Stack>
  );
}
