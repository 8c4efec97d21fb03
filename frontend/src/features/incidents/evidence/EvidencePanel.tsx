import { SegmentedControl, Select, Text } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Incident } from "@/lib/api/types";
import { Panel } from "@/lib/ui/Panel";
import { EvidenceTable } from "./EvidenceTable";

/** The charts are a third of all code; the list of incidents must not wait for them. */
const EvidenceCharts = lazy(() => import("./EvidenceCharts").then((module) => ({ default: module.EvidenceCharts })));

/** The evidence of the leading finding first; that of the others by choice. */
export function EvidencePanel({ incident }: { incident: Incident }) {
  const [chosen, setChosen] = useState(incident.finding_id);
  const findings = incident.findings;
  const finding = findings.find((each) => each.finding_id === chosen) ?? findings[0];
  const evidence = finding && finding.finding_id !== incident.finding_id ? finding.evidence : incident.evidence;
  const choices = findings.map((each) => ({
    value: each.finding_id,
    label: `${each.symptom} ${each.host} ${each.pci}`.trim(),
  }));
  const choose = (value: string | null) => setChosen(value ?? incident.finding_id);
  return (
    <Panel
      title="Evidence"
      aside={
        <Text size="xs" c="dimmed">
          shaded: evidence window
        </Text>
      }
      actions={
        choices.length > 1 &&
        (choices.length <= 2 ? (
          <SegmentedControl aria-label="Finding" value={finding?.finding_id ?? ""} onChange={choose} data={choices} />
        ) : (
          <Select
            aria-label="Finding"
            w={260}
            searchable
            allowDeselect={false}
            value={finding?.finding_id ?? null}
            onChange={choose}
            data={choices}
          />
        ))
      }
      flush
    >
      <EvidenceTable evidence={evidence} />
      {finding && (
        <Suspense fallback={null}>
          <EvidenceCharts finding={finding} evidence={evidence} />
        </Suspense>
      )}
    </Panel>
  );
}
