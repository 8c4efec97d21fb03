import { Grid, Group, List, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import { SensitivityChart } from "@/charts/sensitivity/SensitivityChart";
import type { FoundCause, LabReport } from "@/lib/api/types";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { formatNumber, formatShare } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { CauseEvidence } from "./CauseEvidence";
import { CausePolicy } from "./CausePolicy";
import { CauseRule } from "./CauseRule";
import { causeTitle, thresholdText } from "./labText";
import { MovedThresholds } from "./MovedThresholds";
import { Reproducer } from "./Reproducer";
import { sensitivityModel } from "./sensitivity";

interface Props {
  /** Id of the campaign that found it. */
  campaign: string;
  cause: FoundCause;
  report: LabReport;
  units: Readonly<Record<string, string>>;
}

function Effect({ cause, report }: { cause: FoundCause; report: LabReport }) {
  const rows = Object.entries(cause.effect);
  if (rows.length === 0) return null;
  return (
    <Text size="sm">
      {rows
        .map(([name, { good, bad, change }]) => {
          const unit = report.baseline?.metrics[name]?.unit ?? "";
          const by = change === null ? "" : ` (${change < 0 ? "−" : "+"}${formatShare(Math.abs(change))})`;
          return `${name}: ${formatNumber(good)} → ${formatNumber(bad)} ${unit}${by}`;
        })
        .join(" · ")}
    </Text>
  );
}

/** One cause: when it happens, from which value on, how each parameter acts, and why the lab believes it. */
export function CausePanel({ campaign, cause, report, units }: Props) {
  const symptoms = useCatalogue().data?.symptoms;
  const title = symptoms?.find(({ id }) => id === cause.symptom)?.title;
  const curves = useMemo(
    () => cause.sensitivity.map((curve) => sensitivityModel(cause, curve, units, report.baseline)),
    [cause, units, report.baseline],
  );
  return (
    <Panel
      title={`Cause ${cause.id}: ${causeTitle(cause)}`}
      aside={
        <Text size="xs" c="dimmed">
          confidence {formatShare(cause.confidence)}
        </Text>
      }
    >
      <Grid gap={16}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap={10}>
            <Group gap={12}>
              {cause.recognised ? (
                <StatusMark tone="good">{`This is ${cause.recognised.cause}: ${cause.recognised.label}`}</StatusMark>
              ) : (
                <StatusMark tone="quiet">New: no cause of the catalogue has these conditions</StatusMark>
              )}
              {!cause.proven && (
                <StatusMark tone="warn">Not proven: other parameters may move the threshold</StatusMark>
              )}
            </Group>
            <div>
              <Text size="sm" mb={4}>
                {cause.symptom ?? "The decline"}
                {title === undefined ? "" : ` (${title.charAt(0).toLowerCase()}${title.slice(1)})`} appears when
                {cause.conditions.length > 1 ? " all of these hold" : ""}
              </Text>
              <List size="sm" fw={600}>
                {cause.conditions.map(({ text }) => (
                  <List.Item key={text}>{text}</List.Item>
                ))}
              </List>
            </div>
            {cause.thresholds.length > 0 && (
              <Text size="sm">
                {cause.thresholds
                  .map((limit) => `${limit.parameter ?? "boundary"}: ${thresholdText(limit)}`)
                  .join(" · ")}
              </Text>
            )}
            <MovedThresholds cause={cause} />
            <Effect cause={cause} report={report} />
            {cause.recovers === false && <Text size="sm">The device does not recover from it until a reset.</Text>}
            {curves.length > 0 && (
              <Grid gap={12} aria-label="Sensitivity">
                {curves.map((model) => (
                  <Grid.Col key={model.parameter} span={{ base: 12, lg: curves.length > 1 ? 6 : 12 }}>
                    <SensitivityChart model={model} />
                  </Grid.Col>
                ))}
              </Grid>
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap={14}>
            <CauseEvidence cause={cause} />
            <Reproducer cause={cause} />
            <CausePolicy cause={cause} campaign={campaign} />
            {cause.recognised === null && <CauseRule cause={cause} campaign={campaign} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </Panel>
  );
}
