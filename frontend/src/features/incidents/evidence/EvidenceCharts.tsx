import { Grid, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import { api, unwrap } from "@/lib/api/client";
import type { Evidence, IncidentFinding } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { QueryState } from "@/lib/ui/QueryState";
import { drawable, type Span, spanOf, toEvidenceModel, windowOf } from "./chartModels";
import { boundLine } from "./evidenceText";

/** The page asks again by itself while the symptom lasts: each new message of the finding moves the interval. */
function useSignals({ host, pci, symptom }: Pick<IncidentFinding, "host" | "pci" | "symptom">, span: Span | null) {
  return useQuery({
    queryKey: ["rnics", host, pci, "signals", symptom, span],
    enabled: span !== null && pci !== "",
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/signals", { params: { path: { host, pci }, query: { symptom, ...span } } }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** What the evidence looked like on the RNIC, with the very interval that it speaks of shaded. */
export function EvidenceCharts({
  finding,
  evidence,
}: {
  finding: Pick<IncidentFinding, "host" | "pci" | "symptom" | "started_at">;
  evidence: readonly Evidence[];
}) {
  const { zone } = useTimeFormat();
  const drawn = useMemo(() => drawable(evidence), [evidence]);
  const span = useMemo(() => spanOf(drawn, finding.started_at, Date.now()), [drawn, finding.started_at]);
  const signals = useSignals(finding, span);
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
      return model && field ? [{ evidence: each, model, window: windowOf(field) }] : [];
    });
  }, [signals.data, drawn, zone]);
  if (finding.pci === "" || span === null) return null;
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
            {each.map((chart) => (
              <Grid.Col key={chart.evidence.signal} span={{ base: 12, md: 6 }}>
                <Text size="sm" fw={600}>
                  {chart.evidence.label}
                </Text>
                <Text size="xs" c="dimmed">
                  {boundLine(chart.evidence)}, {chart.window}
                </Text>
                <SeriesChart model={chart.model} title={chart.evidence.label} height={150} />
              </Grid.Col>
            ))}
          </Grid>
        )}
      </QueryState>
    </section>
  );
}
