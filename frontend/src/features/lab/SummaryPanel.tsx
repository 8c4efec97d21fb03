import { Grid, List, Stack, Table, Text } from "@mantine/core";
import type { LabReport } from "@/lib/api/types";
import { formatNumber, formatShare, MISSING, plural } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";

function noiseText({ noise }: LabReport): string {
  if (!noise) return "Noise was not measured.";
  if (noise.flip_rate === 0) return `No test disagreed with its repetition (${plural(noise.repeats, "repetition")}).`;
  const how = noise.sequential_decisions ? "; verdicts are decided by repeated tests" : "";
  return `${formatShare(noise.flip_rate)} of ${plural(noise.repeats, "repetition")} disagreed${how}.`;
}

/** What the verdicts rest on: the healthy baseline with its noise, what the device remembers, and which model predicts its metrics. */
export function SummaryPanel({ report }: { report: LabReport }) {
  const { baseline, memory, models, notes } = report;
  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Panel title="Baseline">
          <Stack gap={8}>
            {baseline && (
              <HeadedTable label="Baseline" titles={["Metric", "Median", "Scatter", "Better"]}>
                {Object.entries(baseline.metrics).map(([name, { median, scale, unit, better }]) => (
                  <Table.Tr key={name}>
                    <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{name}</Table.Td>
                    <Table.Td>
                      {formatNumber(median)} {unit}
                    </Table.Td>
                    <Table.Td>± {formatNumber(scale)}</Table.Td>
                    <Table.Td>{better}</Table.Td>
                  </Table.Tr>
                ))}
              </HeadedTable>
            )}
            <Text size="sm">{noiseText(report)}</Text>
            {memory && (
              <Text size="sm">
                The device remembers: it {memory.text} ({memory.disagreed} of {plural(memory.controls, "control")}{" "}
                disagreed).
              </Text>
            )}
            {notes.length > 0 && (
              <List size="sm">
                {notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            )}
          </Stack>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Panel title="Architecture model" flush={models.length > 0}>
          {models.length === 0 ? (
            <Text size="sm" c="dimmed">
              No model was fitted.
            </Text>
          ) : (
            <HeadedTable
              label="Architecture model"
              titles={["Metric", "Best model", "Parameters", "Fit (R²)", "Left out"]}
            >
              {models.map((model) => (
                <Table.Tr key={model.metric}>
                  <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{model.metric}</Table.Td>
                  <Table.Td>{model.family}</Table.Td>
                  <Table.Td>{model.parameters.join(", ") || MISSING}</Table.Td>
                  <Table.Td>{formatNumber(model.goodness)}</Table.Td>
                  <Table.Td>{formatNumber(model.leave_one_out)}</Table.Td>
                </Table.Tr>
              ))}
            </HeadedTable>
          )}
        </Panel>
      </Grid.Col>
    </Grid>
  );
}
