import "@/lib/ui/mantineMore.css";
import { Grid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { Evidence } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { QueryState } from "@/lib/ui/QueryState";
import { changesText, markTimes } from "./changeMarks";
import { toEvidenceModel, windowOf } from "./chartModels";
import { boundLine } from "./evidenceText";
import { type FindingPlace, useChangesOf, useEvidenceSeries } from "./useEvidenceSeries";

/** What the evidence looked like on the RNIC, with the very interval that it speaks of shaded, and changes as lines. */
export function EvidenceCharts({ finding, evidence }: { finding: FindingPlace; evidence: readonly Evidence[] }) {
  const { zone } = useTimeFormat();
  const { drawn, span, signals } = useEvidenceSeries(finding, evidence);
  const changes = useChangesOf(finding, span).data?.items;
  const events = useMemo(() => (changes && span ? markTimes(changes, span) : []), [changes, span]);
  const charts = useMemo(() => {
    const data = signals.data;
    if (!data) return [];
    const formats = {
      axis: (ms: number) => formatTime(ms, zone).slice(11, 19).replace(/:00$/, ""),
      tooltip: (ms: number) => formatTime(ms, zone),
    };
    return drawn.flatMap((each) => {
      const model = toEvidenceModel(each, data, formats);
      const field = data.fields.find(({ name }) => name === each.signal);
      return model && field ? [{ evidence: each, model: { ...model, events }, window: windowOf(field) }] : [];
    });
  }, [signals.data, drawn, events, zone]);
  const undrawn = drawn.filter(({ signal }) => !charts.some((chart) => chart.evidence.signal === signal));
  if (finding.pci === "" || span === null) return null;
  if (finding.symptom === "contention")
    return (
      <Text size="sm" p="sm">
        <Link to="/functions" search={{ host: finding.host, pci: finding.pci }}>
          How these functions came there, and where their traffic is going
        </Link>
      </Text>
    );
  return (
    <section aria-label="Evidence charts">
      <QueryState
        query={{ ...signals, data: signals.data && charts }}
        lines={5}
        isEmpty={(each) => each.length === 0}
        empty={
          <Text size="sm" c="dimmed" p="sm">
            The samples of that time are no longer stored; the values above are stored with the incident.
          </Text>
        }
      >
        {(each) => (
          <Grid gap={12} p={12}>
            {changes && changes.length > 0 && (
              <Grid.Col span={12}>
                <Text size="xs" c="dimmed">
                  Dotted lines: {changesText(changes)}.
                </Text>
              </Grid.Col>
            )}
            {each.map((chart) => (
              <Grid.Col key={chart.evidence.signal} span={{ base: 12, md: 6 }}>
                <Text size="sm" fw={600}>
                  {chart.evidence.label}
                </Text>
                <Text size="xs" c="dimmed">
                  {boundLine(chart.evidence)}, {chart.window}
                </Text>
                <SeriesChart
                  model={chart.model}
                  title={chart.evidence.label}
                  height={150}
                  group={`evidence ${finding.host} ${finding.pci}`}
                />
              </Grid.Col>
            ))}
            {undrawn.length > 0 && (
              <Grid.Col span={12}>
                <Text size="xs" c="dimmed">
                  Not drawn: {undrawn.map(({ label }) => label).join(", ")}. Other hosts count it, or its samples are no
                  longer stored; the values above are stored with the incident.
                </Text>
              </Grid.Col>
            )}
          </Grid>
        )}
      </QueryState>
    </section>
  );
}
