import { Grid, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import { api, unwrap } from "@/lib/api/client";
import type { Evidence, IncidentFinding } from "@/lib/api/types";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { QueryState } from "@/lib/ui/QueryState";
import { chartsOf, type EvidenceChart, isItself, type Span, spanOf, toEvidenceModel } from "./chartModels";
import { evidenceLine } from "./evidenceText";

const MOST_FIELDS = 20;

/** The page asks again by itself while the symptom lasts: each new message of the finding moves the interval. */
function useEvidenceSeries(host: string, pci: string, charts: readonly EvidenceChart[], span: Span | null) {
  const fields = [...new Set(charts.flatMap((chart) => chart.fields))].slice(0, MOST_FIELDS).join(",");
  return useQuery({
    queryKey: ["rnics", host, pci, "evidence", fields, span],
    enabled: span !== null && fields !== "",
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/rnics/{host}/{pci}/series", { params: { path: { host, pci }, query: { fields, ...span } } }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** The signal; where it is not stored itself, what is drawn in its place. */
function titleOf(chart: EvidenceChart, lines: readonly { label: string }[]): string {
  if (isItself(chart)) return chart.evidence[0].label;
  return `${lines.map(({ label }) => label).join(", ")} (derived from it: ${chart.evidence.map(({ label }) => label).join("; ")})`;
}

/** What the evidence looked like on the RNIC, with the very interval that it speaks of shaded. */
export function EvidenceCharts({
  finding,
  evidence,
}: {
  finding: Pick<IncidentFinding, "host" | "pci" | "started_at">;
  evidence: readonly Evidence[];
}) {
  const catalogue = useCatalogue().data;
  const { zone } = useTimeFormat();
  const charts = useMemo(() => (catalogue ? chartsOf(evidence, catalogue) : []), [evidence, catalogue]);
  const span = useMemo(() => spanOf(charts, finding.started_at, Date.now()), [charts, finding.started_at]);
  const series = useEvidenceSeries(finding.host, finding.pci, charts, span);
  const models = useMemo(() => {
    const data = series.data;
    if (!data) return [];
    const formats = {
      axis: (ms: number) => formatTime(ms, zone).slice(11, 19).replace(/:00$/, ""),
      tooltip: (ms: number) => formatTime(ms, zone),
    };
    return charts.map((chart) => ({ chart, model: toEvidenceModel(chart, data, formats) }));
  }, [series.data, charts, zone]);
  if (finding.pci === "" || charts.length === 0) return null;
  return (
    <section aria-label="Evidence charts">
      <QueryState
        query={{ ...series, data: series.data && models }}
        lines={5}
        isEmpty={(drawn) =>
          !drawn.some(({ model }) => model.lines.some((line) => line.values.some((value) => value !== null)))
        }
        empty={
          <Text size="sm" c="dimmed" p="sm">
            The series of that time are no longer stored; the values above are stored with the incident.
          </Text>
        }
      >
        {(drawn) => (
          <Grid gap={12} p={12}>
            {drawn.map(({ chart, model }) => (
              <Grid.Col key={chart.fields.join(",")} span={{ base: 12, md: 6 }}>
                <Text size="sm" fw={600}>
                  {titleOf(chart, model.lines)}
                </Text>
                {chart.evidence.map((each) => (
                  <Text size="xs" c="dimmed" key={each.signal}>
                    {evidenceLine(each)}
                  </Text>
                ))}
                <SeriesChart model={model} title={titleOf(chart, model.lines)} height={150} />
              </Grid.Col>
            ))}
          </Grid>
        )}
      </QueryState>
    </section>
  );
}
