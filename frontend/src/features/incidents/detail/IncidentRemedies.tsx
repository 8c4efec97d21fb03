import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Incident } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { isOfPlan } from "@/shared/remedies/order/params";
import { purposeOf } from "@/shared/remedies/order/purpose";
import { RemedyDialog } from "@/shared/remedies/order/RemedyDialog";
import { useActions, useRemediesOf } from "@/shared/remedies/queries";
import { StateMark } from "@/lib/ui/StateMark";
import { SuggestionRow } from "./SuggestionRow";

interface Props {
  incident: Incident;
  /** What starts or opens a mask plan, which is created and reviewed before it can be applied. */
  planControl: (primary: boolean) => ReactNode;
}

/** What is suggested, in the order of the API, the first as the primary action; what was done, and the way to do something else. */
export function IncidentRemedies({ incident, planControl }: Props) {
  const actions = useActions();
  const suggested = incident.remedies;
  const done = useRemediesOf({ incident_id: incident.id });
  const { clock } = useTimeFormat();
  const [dialog, setDialog] = useState<{ action?: string; remedyId?: string } | null>(null);
  const titleOf = (action: string) => actions.data?.find((a) => a.action === action)?.title ?? action;
  const isPlan = (action: string) => actions.data?.some((each) => each.action === action && isOfPlan(each)) ?? false;
  const applied = (done.data?.items ?? []).filter((remedy) => remedy.mode === "apply");
  return (
    <Stack gap={10}>
      {suggested.length === 0 && (
        <Text size="sm" c="dimmed">
          No suggested remedies for this cause.
        </Text>
      )}
      {suggested.map((suggestion, i) => (
        <SuggestionRow
          key={suggestion.action}
          incident={incident}
          suggestion={suggestion}
          title={titleOf(suggestion.action)}
          control={
            isPlan(suggestion.action) ? (
              planControl(i === 0)
            ) : (
              <Button
                variant={i === 0 ? "filled" : "default"}
                onClick={() => setDialog({ action: suggestion.action })}
                aria-label={`Review ${titleOf(suggestion.action)}`}
              >
                Review
              </Button>
            )
          }
        />
      ))}
      {applied.map((remedy) => (
        <Group key={remedy.id} justify="space-between" wrap="nowrap">
          <Group gap={8}>
            <StateMark machine="remedy" state={remedy.state} />
            <Text size="sm">{titleOf(remedy.action)}</Text>
            <Text size="xs" c="dimmed">
              {clock(remedy.created_at)} · {remedy.requested_by}
              {remedy.rollout_id !== null && (
                <>
                  {" · "}
                  <Link to="/rollouts/$id" params={{ id: remedy.rollout_id }}>
                    rollout
                  </Link>
                </>
              )}
            </Text>
          </Group>
          <Button size="compact-xs" variant="subtle" onClick={() => setDialog({ remedyId: remedy.id })}>
            Open
          </Button>
        </Group>
      ))}
      <Group gap={8}>
        <Button variant="default" onClick={() => setDialog({})}>
          Other remedies
        </Button>
        {incident.hosts.length > 1 && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/rollouts/new" search={{ incident: incident.id, host: incident.hosts.join(",") }} {...props} />
            )}
          >
            Roll out to all {incident.hosts.length} hosts…
          </Button>
        )}
      </Group>
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
    </Stack>
  );
}
