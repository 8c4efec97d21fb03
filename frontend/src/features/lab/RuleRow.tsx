import { Button, Code, Group, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LabRule } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { ReasonDialog } from "@/lib/ui/ReasonDialog";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayChange } from "@/shared/session";
import { thresholdText } from "./labText";
import { useReviewRule } from "./ruleQueries";

const MARKS = {
  proposed: { tone: "warn", label: "Waits for review" },
  accepted: { tone: "good", label: "Accepted" },
  rejected: { tone: "quiet", label: "Rejected" },
} as const;

type Review = "accept" | "reject";

function Cause({ rule }: { rule: LabRule }) {
  const limits = rule.evidence.thresholds.map((limit) => `${limit.parameter ?? "boundary"}: ${thresholdText(limit)}`);
  return (
    <>
      <Text size="sm">{rule.cause_text}</Text>
      <Text size="xs" c="dimmed">
        {rule.campaign_id === null ? (
          rule.device
        ) : (
          <Link to="/lab/$id" params={{ id: rule.campaign_id }}>
            Cause {rule.cause} of a campaign on {rule.device}
          </Link>
        )}
        {` · confidence ${formatShare(rule.evidence.confidence)}`}
        {rule.evidence.proven ? "" : ", not proven"}
        {limits.length > 0 && ` · ${limits.join(" · ")}`}
      </Text>
      {rule.not_checked.length > 0 && (
        <Text size="xs" c="dimmed">
          Wider than the cause: it does not check {rule.not_checked.join("; ")}.
        </Text>
      )}
    </>
  );
}

function Dialog({ rule, review, onClose }: { rule: LabRule; review: Review; onClose: () => void }) {
  const request = useReviewRule(rule.id);
  const accept = review === "accept";
  return (
    <ReasonDialog
      title={`${accept ? "Accept" : "Reject"} rule ${rule.name}`}
      submit={accept ? "Accept" : "Reject"}
      request={request}
      onReason={(comment) => request.mutate({ accept, comment }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {accept
        ? `From its next start on, classify reports RNICs in this state as a performance issue without a known symptom, unless S1 to S8 explain it.`
        : `Nothing detects it${rule.state === "accepted" ? " after the next start of classify" : ""}.`}
    </ReasonDialog>
  );
}

/** One candidate rule: where it comes from, what it does not check, the decision on it, and on request its text. */
export function RuleRow({ rule }: { rule: LabRule }) {
  const mayChange = useMayChange();
  const [shown, setShown] = useState(false);
  const [review, setReview] = useState<Review | null>(null);
  const mark = MARKS[rule.state];
  return (
    <>
      <Table.Tr data-testid="lab-rule">
        <Table.Td>
          <Text size="sm">{rule.title}</Text>
          <Text size="xs" c="dimmed">
            {rule.name} · {rule.models.length > 0 ? `on ${rule.models.join(", ")}` : "on every model"}
          </Text>
        </Table.Td>
        <Table.Td maw={640}>
          <Cause rule={rule} />
        </Table.Td>
        <Table.Td>
          <StatusMark tone={mark.tone}>{mark.label}</StatusMark>
          <Text size="xs" c="dimmed">
            {rule.decided_by === null ? `proposed by ${rule.proposed_by}` : `${rule.decided_by}: ${rule.comment ?? ""}`}
          </Text>
          {rule.problem !== null && (
            <Text size="xs" c="var(--ww-bad)">
              Not used: {rule.problem}
            </Text>
          )}
        </Table.Td>
        <Table.Td>
          <Group gap={6} justify="flex-end" wrap="nowrap">
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`${shown ? "Hide" : "Show"} rule ${rule.name}`}
              aria-expanded={shown}
              onClick={() => setShown(!shown)}
            >
              {shown ? "Hide" : "Show"}
            </Button>
            {mayChange && rule.state !== "rejected" && (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Reject rule ${rule.name}`}
                onClick={() => setReview("reject")}
              >
                Reject
              </Button>
            )}
            {mayChange && rule.state !== "accepted" && (
              <Button size="compact-xs" aria-label={`Accept rule ${rule.name}`} onClick={() => setReview("accept")}>
                Accept
              </Button>
            )}
          </Group>
          {review !== null && <Dialog rule={rule} review={review} onClose={() => setReview(null)} />}
        </Table.Td>
      </Table.Tr>
      {shown && (
        <Table.Tr>
          <Table.Td colSpan={4}>
            <Code block tabIndex={0} aria-label={`Text of rule ${rule.name}`} role="region">
              {rule.yaml}
            </Code>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}
