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

/** `Re-offload ratio < 5% for 20 s, within 3 min` */
function checkText({ label, expected, unit, for_s, within_s }: RemedyAction["change"]): string {
  const lasting = for_s > 0 ? ` for ${formatDuration(for_s * 1000)}` : "";
  return `${label} ${formatExpected(expected, unit)}${lasting}, within ${formatDuration(within_s * 1000)}`;
}

/** The expected effect, risk, scope, changes and privileges of an action, how it is confirmed and how it is undone. */
export function ActionFacts({ action, reach }: { action: RemedyAction; reach: string | null }) {
  const { change, cures } = action;
  return (
    <Stack gap={4}>
      <Text size="sm">
        <b>Expected effect:</b>{" "}
        {cures.length === 0
          ? "no signal can show what it does to a symptom; only its change on the host is confirmed."
          : cures.map((cure) => `${cure.symptom}: ${cure.text}`).join(" ")}
      </Text>
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
        <b>Change confirmed:</b> {change.text} Within {formatDuration(change.within_s * 1000)}.
      </Text>
      {cures.map((cure) => (
        <Text size="sm" key={cure.symptom}>
          <b>Effect on {cure.symptom} confirmed by</b> {checkText(cure)}, and by the end of {cure.symptom} itself.
        </Text>
      ))}
      <Text size="sm">
        <b>Undo:</b> {action.undo}
      </Text>
    </Stack>
  );
}
