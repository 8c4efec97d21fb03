import { CloseButton, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Incident } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import { IncidentStateMark } from "@/shared/incidents/IncidentStateMark";
import { useIncident } from "@/shared/incidents/queries";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { evidenceLine } from "../evidence/evidenceText";
import classes from "./PeekPanel.module.css";

const EVIDENCE = 3;

function Peek({ incident }: { incident: Incident }) {
  const [cause] = [...incident.hypotheses].sort((a, b) => b.posterior - a.posterior);
  const [remedy] = incident.remedies;
  return (
    <Stack gap={8}>
      <Group gap={8}>
        {incident.symptoms.map((symptom) => (
          <SymptomLink key={symptom} symptom={symptom} over={!incident.active} />
        ))}
        <IncidentStateMark incident={incident} />
        <Text size="sm">{incident.subject}</Text>
      </Group>
      <Text size="sm">{incident.explanation || incident.summary}</Text>
      {incident.evidence.slice(0, EVIDENCE).map((each, i) => (
        <Text key={`${each.signal}${i}`} size="xs" c="dimmed">
          {evidenceLine(each)}
        </Text>
      ))}
      {cause && (
        <Text size="sm">
          <b>Why:</b> {cause.cause} {cause.title} ({formatShare(cause.posterior)})
        </Text>
      )}
      {remedy && (
        <Text size="sm" component="div">
          <b>Fix:</b> <ActionName action={remedy.action} /> <ParamsLine action={remedy.action} params={remedy.params} />
        </Text>
      )}
      <Text size="sm">
        <Link to="/incidents/$id" params={{ id: incident.id }}>
          Open ( Enter )
        </Link>
      </Text>
    </Stack>
  );
}

/** What, why and fix of the row under the cursor, without leaving the list; it follows the cursor. */
export function PeekPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const incident = useIncident(id);
  return (
    <aside className={classes["peek"]} aria-label="Peek" aria-live="polite">
      <Panel
        title={incident.data?.title ?? "Incident"}
        actions={<CloseButton aria-label="Close the peek panel" onClick={onClose} />}
      >
        <QueryState query={incident} lines={5}>
          {(data) => <Peek incident={data} />}
        </QueryState>
      </Panel>
    </aside>
  );
}
