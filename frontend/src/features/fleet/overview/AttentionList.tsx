import { ActionIcon, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { type Names, useNames } from "@/lib/api/useCatalogue";
import { formatHeadroom, plural } from "@/lib/format";
import { bandColor, bandOf } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import type { FleetState } from "@/lib/stream/fleetStore";
import { formatDuration } from "@/lib/time/format";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import classes from "./AttentionList.module.css";
import { isStale } from "./canvas/scene";
import { useIncidentsOfRnics } from "./queries";
import { type FleetSummary, quietText } from "./summary";

/** Its forms weigh a fifth of this page and are rarely asked for. */
const RnicRemedyDialog = lazy(() =>
  import("../rnic/RnicRemedyDialog").then((module) => ({ default: module.RnicRemedyDialog })),
);

/** Why it needs someone, in words: its symptoms, or the limit it is near. */
function whyText(columns: Columns, row: number, names: Names): string {
  const symptoms = columns.symptoms[row] ?? [];
  if (symptoms.length > 0) return symptoms.map(names.symptom).join(", ");
  const recent = columns.recent[row] ?? [];
  if (recent.length > 0) return `${recent.map(names.symptom).join(", ")}, cleared`;
  return (columns.headroom[row] ?? 1) < 0 ? "Over limit, no symptoms" : "Near limit, no symptoms";
}

const NONE: readonly { host: string; pci: string }[] = [];

interface Props {
  state: FleetState;
  summary: FleetSummary;
  now: number;
  /** A replay: today's incidents are not those of then. */
  past: boolean;
  /** Shows all that need attention, and nothing else. */
  onShowAll: () => void;
}

/** The sickest RNICs by name, one click away: what an operator came for, before any reading of colours. */
export function AttentionList({ state, summary, now, past, onShowAll }: Props) {
  const { columns, staleAfterMs } = state;
  const key = summary.sickest.map((row) => `${columns.host[row] ?? ""}|${columns.pci[row] ?? ""}`).join();
  // `key` stands for the RNICs that are shown; the summary is another object with each update.
  const shown = useMemo(
    () => summary.sickest.map((row) => ({ host: columns.host[row] ?? "", pci: columns.pci[row] ?? "" })),
    [key], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const incidents = useIncidentsOfRnics(past ? NONE : shown);
  const names = useNames();
  const [asked, setAsked] = useState<{ host: string; pci: string } | null>(null);
  if (summary.needAttention === 0) {
    return (
      <Text size="sm" c="dimmed" data-testid="attention">
        {quietText(summary)}
        {summary.stale > 0 ? `, but ${plural(summary.stale, "RNIC")} sent no recent data.` : "."}
      </Text>
    );
  }
  return (
    <section aria-label="RNICs that need attention" data-testid="attention">
      <Group gap={8} align="stretch" wrap="nowrap" style={{ overflowX: "auto", position: "relative" }}>
        <div className={classes["title"]}>
          <Title order={2} size="h3">
            {plural(summary.needAttention, "RNIC")}
          </Title>
          <Text size="xs" c="dimmed">
            {summary.needAttention === 1 ? "needs attention" : "need attention"}
          </Text>
        </div>
        {summary.sickest.map((row, i) => {
          const incident = incidents[i];
          const host = columns.host[row] ?? "";
          const pci = columns.pci[row] ?? "";
          const wall = columns.nearest_wall[row];
          const others = summary.sharing.get(row) ?? 0;
          return (
            <div
              key={`${host}|${pci}`}
              className={classes["card"]}
              style={{ borderLeftColor: bandColor(bandOf(columns.headroom[row])) }}
            >
              <Link to="/rnics/$host/$pci" params={{ host, pci }} className={classes["open"]}>
                <Group gap={6} wrap="nowrap">
                  <Text fw={600} size="sm" truncate style={{ flex: "0 1 auto", minWidth: 52 }}>
                    {host}
                  </Text>
                  <Text size="xs" ff="monospace" c="dimmed" truncate style={{ flex: "0 2 auto", minWidth: 0 }}>
                    {others > 0 ? `all ${others + 1} RNICs` : pci.replace(/^0000:/, "")}
                  </Text>
                  {(columns.symptoms[row] ?? []).map((symptom) => (
                    <SymptomBadge key={symptom} symptom={symptom} short />
                  ))}
                  {(columns.recent[row] ?? []).map((symptom) => (
                    <SymptomBadge key={symptom} symptom={symptom} short over />
                  ))}
                </Group>
                <Text size="xs" c="dimmed" truncate>
                  {formatHeadroom(columns.headroom[row])}
                  {wall ? ` · ${names.wall(wall)}` : ""}
                  {columns.cordoned[row] ? " · cordoned" : ""}
                  {isStale(columns, row, now, staleAfterMs) ? " · stale" : ""}
                </Text>
                <Text size="xs" lineClamp={2}>
                  {incident && (columns.symptoms[row]?.length ?? 0) > 0
                    ? `${formatDuration(now - Date.parse(incident.opened_at))} · `
                    : ""}
                  {whyText(columns, row, names)}
                </Text>
              </Link>
              <Stack gap={4}>
                {incident && (
                  <ActionIcon
                    variant="default"
                    size="sm"
                    title={`Open the incident: ${incident.title}`}
                    aria-label={`Open the incident of ${host} ${pci}`}
                    renderRoot={(props) => <Link to="/incidents/$id" params={{ id: incident.id }} {...props} />}
                  >
                    <IconAlertTriangle size={13} />
                  </ActionIcon>
                )}
                <ActionIcon
                  variant="default"
                  size="sm"
                  title="Propose a remedy"
                  aria-label={`Propose a remedy for ${host} ${pci}`}
                  onClick={() => setAsked({ host, pci })}
                >
                  <IconTool size={13} />
                </ActionIcon>
              </Stack>
            </div>
          );
        })}
        {summary.more > 0 && (
          <UnstyledButton className={classes["more"]} onClick={onShowAll}>
            +{summary.more.toLocaleString("en")} more
          </UnstyledButton>
        )}
      </Group>
      {asked && (
        <Suspense>
          <RnicRemedyDialog host={asked.host} pci={asked.pci} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </section>
  );
}
