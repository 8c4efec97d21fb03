import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Incident, SuggestedRemedy } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { endedWithoutSuccess } from "@/lib/states";
import { isBehaviour } from "@/lib/symptoms";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { isOfPlan } from "@/shared/remedies/order/params";
import { purposeOf } from "@/shared/remedies/order/purpose";
import { RemedyDialog } from "@/shared/remedies/order/RemedyDialog";
import { useActions, useRemediesOf } from "@/shared/remedies/queries";
import { StateMark } from "@/lib/ui/StateMark";
import { Panel } from "@/lib/ui/Panel";
import { AppliedRemedy } from "./AppliedRemedy";
import classes from "./FixPanel.module.css";
import { SuggestionRow } from "./SuggestionRow";
import { VendorAdvice } from "./VendorAdvice";

interface Props {
  incident: Incident;
  /** What starts or opens a mask plan, which is created and reviewed before it can be applied. */
  planControl: (primary: boolean) => ReactNode;
}

/** The newest applied remedy, live; one suggestion as the primary action, the others below it; what was applied before. */
export function FixPanel({ incident, planControl }: Props) {
  const actions = useActions();
  const states = useStates("remedy");
  const done = useRemediesOf({ incident_id: incident.id });
  const { clock } = useTimeFormat();
  const [dialog, setDialog] = useState<{ action?: string; remedyId?: string } | null>(null);
  const actionOf = (name: string) => actions.data?.find((each) => each.action === name);
  const titleOf = (name: string) => actionOf(name)?.title ?? name;
  const [newest, ...earlier] = (done.data?.items ?? []).filter((remedy) => remedy.mode === "apply");
  const [first, ...others] = incident.remedies;
  // While a remedy works, or once the symptom is gone, no action is put first.
  const working = newest !== undefined && !endedWithoutSuccess(states, newest.state);
  const rowOf = (suggestion: SuggestedRemedy, primary: boolean) => {
    const action = actionOf(suggestion.action);
    return (
      <SuggestionRow
        key={suggestion.action}
        incident={incident}
        suggestion={suggestion}
        title={titleOf(suggestion.action)}
        risk={action?.risk}
        brief={working}
        control={
          action && isOfPlan(action) ? (
            planControl(primary)
          ) : (
            <Button
              variant={primary ? "filled" : "default"}
              size={primary ? "sm" : "compact-sm"}
              onClick={() => setDialog({ action: suggestion.action })}
              aria-label={`${primary ? "Review and apply:" : "Review"} ${titleOf(suggestion.action)}`}
            >
              {primary ? "Review and apply" : "Review"}
            </Button>
          )
        }
      />
    );
  };
  return (
    <Panel title="Fix">
      <Stack gap={10}>
        {newest && (
          <AppliedRemedy
            remedy={newest}
            title={titleOf(newest.action)}
            onOpen={() => setDialog({ remedyId: newest.id })}
          />
        )}
        {first ? (
          rowOf(first, !working && incident.active)
        ) : isBehaviour(incident.symptom) ? (
          <VendorAdvice symptom={incident.symptom} />
        ) : (
          <Text size="sm" c="dimmed">
            No suggested remedies for this cause.
          </Text>
        )}
        {others.length > 0 && (
          <div className={classes["or"]} role="group" aria-label="Other suggestions">
            {others.map((suggestion) => rowOf(suggestion, false))}
          </div>
        )}
        {earlier.map((remedy) => (
          <Group key={remedy.id} justify="space-between" wrap="nowrap">
            <Group gap={8}>
              <StateMark machine="remedy" state={remedy.state} />
              <Text size="sm">{titleOf(remedy.action)}</Text>
              <Text size="xs" c="dimmed">
                {clock(remedy.created_at)} · {remedy.requested_by}
              </Text>
            </Group>
            <Button size="compact-xs" variant="subtle" onClick={() => setDialog({ remedyId: remedy.id })}>
              Open
            </Button>
          </Group>
        ))}
        <Group gap={8}>
          <Button size="compact-sm" variant="subtle" onClick={() => setDialog({})}>
            Other remedies
          </Button>
          {incident.hosts.length > 1 && (
            <Button
              size="compact-sm"
              variant="subtle"
              renderRoot={(props) => (
                <Link
                  to="/rollouts/new"
                  search={{ incident: incident.id, host: incident.hosts.join(",") }}
                  {...props}
                />
              )}
            >
              Roll out to all {incident.hosts.length} hosts…
            </Button>
          )}
        </Group>
      </Stack>
      {dialog && (
        <RemedyDialog
          opened
          onClose={() => setDialog(null)}
          host={incident.host}
          pci={incident.pci}
          action={dialog.action}
          purposeFor={(action) => purposeOf(action, [incident]) ?? { incident }}
          remedyId={dialog.remedyId}
        />
      )}
    </Panel>
  );
}
