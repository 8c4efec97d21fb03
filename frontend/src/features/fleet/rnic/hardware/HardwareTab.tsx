import "@/lib/ui/mantineMore.css";
import { Grid, Text } from "@mantine/core";
import { useId, useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import { useWholeCatalogue } from "@/lib/api/useCatalogue";
import type { Rnic } from "@/lib/api/types";
import type { RangeSearch } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useFindings, useSeries } from "../queries";
import { toModel } from "../seriesModels";
import { timeFormats } from "../timeFormats";
import { FieldPicker } from "./FieldPicker";
import { choicesOf, FIRST_FIELDS } from "./fields";
import { IdentityPanel } from "./IdentityPanel";

interface Props {
  host: string;
  pci: string;
  rnic: Rnic | undefined;
  range: RangeSearch;
  /** By `measurement.name`; undefined before anything was chosen. */
  fields: readonly string[] | undefined;
  onFields: (fields: readonly string[]) => void;
  onZoom: (fromMs: number, toMs: number) => void;
  onZoomOut: () => void;
}

/** Next to a longer title the counter's own name, which the list of fields has too, would take a second line. */
const SHORT_TITLE = 32;

/** Every counter that the registry knows, one chart each, by choice. */
export function HardwareTab({ host, pci, rnic, range, fields, onFields, onZoom, onZoomOut }: Props) {
  const group = useId();
  const { zone } = useTimeFormat();
  const catalogue = useWholeCatalogue();
  const choices = useMemo(() => choicesOf(catalogue.data?.fields ?? []), [catalogue.data]);
  const chosen = useMemo(() => {
    const known = new Set(choices.map(({ id }) => id));
    return (fields ?? FIRST_FIELDS).filter((id) => known.has(id));
  }, [fields, choices]);
  const series = useSeries(host, pci, range, chosen, { enabled: chosen.length > 0 });
  const findings = useFindings(host, pci, range);
  const charts = useMemo(() => {
    const data = series.data;
    if (!data) return [];
    const formats = timeFormats(zone, Date.parse(data.from), Date.parse(data.to));
    return chosen.flatMap((id) => {
      const choice = choices.find((each) => each.id === id);
      if (!choice || data.values[id] === undefined) return [];
      const spec = { key: id, title: choice.label, fields: [{ name: id }] };
      return [{ id, title: choice.label, model: toModel(spec, data, findings.data ?? [], [], formats) }];
    });
  }, [series.data, findings.data, chosen, choices, zone]);
  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, md: 4, lg: 3 }}>
        {rnic && <IdentityPanel rnic={rnic} />}
        <FieldPicker choices={choices} chosen={chosen} onChosen={onFields} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 8, lg: 9 }}>
        {chosen.length === 0 ? (
          <EmptyState title="No field chosen">Choose counters and gauges on the left; each gets a chart.</EmptyState>
        ) : (
          <QueryState query={series} lines={12}>
            {() => (
              <Grid gap={12}>
                {charts.map(({ id, title, model }) => (
                  <Grid.Col key={id} span={{ base: 12, lg: 6 }} data-field={id}>
                    <Panel
                      title={title}
                      aside={
                        title.length <= SHORT_TITLE && (
                          <Text size="xs" c="dimmed" ff="monospace" truncate maw={150} title={id.split(".")[1]}>
                            {id.split(".")[1]}
                          </Text>
                        )
                      }
                    >
                      {model.lines.some((line) => line.values.some((value) => value !== null)) ? (
                        <SeriesChart
                          model={model}
                          title={title}
                          height={140}
                          group={group}
                          onZoom={onZoom}
                          onZoomOut={onZoomOut}
                        />
                      ) : (
                        <EmptyState title="No data in this range">
                          The driver or what reads it on this host does not have this field, or it stayed at zero.
                        </EmptyState>
                      )}
                    </Panel>
                  </Grid.Col>
                ))}
              </Grid>
            )}
          </QueryState>
        )}
      </Grid.Col>
    </Grid>
  );
}
