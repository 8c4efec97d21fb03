import { Anchor, Collapse, List, Text, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Evidence, Hypothesis } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { isBehaviour } from "@/lib/symptoms";
import { EmptyState } from "@/lib/ui/EmptyState";
import { evidenceLine } from "./evidenceText";
import classes from "./HypothesisList.module.css";

/** Of each list, what is read at a glance. */
const LINES = 2;
/** Causes less likely than this are counted, and listed on request. */
const WEAK = 0.02;

function EvidenceList({ title, sign, evidence }: { title: string; sign: string; evidence: readonly Evidence[] }) {
  const [all, setAll] = useState(false);
  if (evidence.length === 0) return null;
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed">
        {title}
      </Text>
      <List size="sm" listStyleType="none" spacing={2}>
        {(all ? evidence : evidence.slice(0, LINES)).map((each, i) => (
          <List.Item key={`${each.signal}${i}`}>
            {sign} {each.text || evidenceLine(each)}{" "}
            {each.text && (
              <Text span size="xs" c="dimmed">
                ({evidenceLine(each)})
              </Text>
            )}
          </List.Item>
        ))}
      </List>
      {!all && evidence.length > LINES && (
        <Anchor component="button" size="xs" mih={24} onClick={() => setAll(true)}>
          {evidence.length - LINES} more
        </Anchor>
      )}
    </div>
  );
}

interface RowProps {
  hypothesis: Hypothesis;
  initiallyOpen: boolean;
  /** What else can be done to confirm a cause; it stands below its next test. */
  confirm: ((cause: string) => ReactNode) | undefined;
}

function Row({ hypothesis, initiallyOpen, confirm }: RowProps) {
  const [opened, setOpened] = useState(initiallyOpen);
  const { cause, title, prior, posterior } = hypothesis;
  return (
    <li className={classes["item"]} data-cause={cause}>
      <UnstyledButton className={classes["row"]} aria-expanded={opened} onClick={() => setOpened(!opened)}>
        <Text span size="sm" fw={700}>
          {cause}
        </Text>
        <Text span size="sm">
          {title}
        </Text>
        <span className={classes["track"]} aria-hidden="true">
          <span className={classes["bar"]} style={{ width: `${posterior * 100}%` }} />
          <span className={classes["prior"]} style={{ left: `${prior * 100}%` }} />
        </span>
        <Text span size="sm" fw={600} ta="right" style={{ whiteSpace: "nowrap" }}>
          {formatShare(posterior)}
        </Text>
      </UnstyledButton>
      <Collapse expanded={opened}>
        <div className={classes["detail"]}>
          <Text size="xs" c="dimmed">
            {formatShare(posterior)} with the evidence, {formatShare(prior)} before it.
          </Text>
          <EvidenceList title="Supporting evidence" sign="+" evidence={hypothesis.evidence_for} />
          <EvidenceList title="Contradicting evidence" sign="−" evidence={hypothesis.evidence_against} />
          {hypothesis.evidence_for.length + hypothesis.evidence_against.length === 0 && (
            <Text size="sm" c="dimmed">
              No evidence for or against: the confidence is the prior's share of what the other causes leave.
            </Text>
          )}
          {hypothesis.next_test && (
            <Text size="sm">
              <b>To confirm:</b> {hypothesis.next_test}
            </Text>
          )}
          {/* Closed rows stay in the page; what they would ask the server for waits until they are opened. */}
          {opened && confirm?.(cause)}
        </div>
      </Collapse>
    </li>
  );
}

/** Causes by posterior, the likeliest opened; the improbable ones are counted until someone asks for them. */
export function HypothesisList({
  hypotheses,
  symptom,
  confirm,
}: {
  hypotheses: readonly Hypothesis[];
  symptom: string;
  confirm?: RowProps["confirm"];
}) {
  const [all, setAll] = useState(false);
  if (hypotheses.length === 0) {
    if (symptom === "silent")
      return (
        <EmptyState title="No causes for a silent host">
          Its telemetry has stopped, so the state of its RNICs is unknown. Check that the host is up and its collector
          is running.
        </EmptyState>
      );
    if (symptom === "unexplained")
      return (
        <EmptyState title="No known cause fits">
          None of the eight symptoms was detected. Cordon the RNIC if it must not be used, and check its series.
        </EmptyState>
      );
    if (symptom === "isolation")
      return (
        <EmptyState title="The cause is another VF’s traffic">
          The summary names the aggressors with their shares of the load, and the victims. The page of the RNIC&apos;s
          VFs shows each second.
        </EmptyState>
      );
    if (isBehaviour(symptom))
      return (
        <EmptyState title="The RNIC itself behaves like this">
          It follows from the model and its firmware, so no cause is ranked and no remedy changes it.{" "}
          <Anchor inherit renderRoot={(props) => <Link to="/symptoms/$symptom" params={{ symptom }} {...props} />}>
            What to do about {symptom}
          </Anchor>
          , with a text for a ticket at the vendor.
        </EmptyState>
      );
    return <EmptyState title="No causes ranked yet">They arrive with the finding's next message.</EmptyState>;
  }
  const ranked = [...hypotheses].sort((a, b) => b.posterior - a.posterior);
  const likely = ranked.filter(({ posterior }, i) => i === 0 || posterior >= WEAK);
  const hidden = ranked.length - likely.length;
  return (
    <>
      <ol className={classes["list"]} aria-label="Likely causes, most likely first">
        {(all ? ranked : likely).map((hypothesis, i) => (
          <Row key={hypothesis.cause} hypothesis={hypothesis} initiallyOpen={i === 0} confirm={confirm} />
        ))}
      </ol>
      {hidden > 0 && (
        <Anchor component="button" size="sm" mih={24} mt={4} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Only the likely causes" : `${plural(hidden, "other cause")} below ${formatShare(WEAK)}`}
        </Anchor>
      )}
    </>
  );
}
