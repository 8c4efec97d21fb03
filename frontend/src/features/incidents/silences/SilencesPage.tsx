import { Button, Group, SegmentedControl, Stack, Title } from "@mantine/core";
import { useState } from "react";
import type { Silence } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import type { SilenceFilters } from "./filters";
import { useChangeSilence, useSilences } from "./queries";
import { SilenceDialog } from "./SilenceDialog";
import { SilenceTable } from "./SilenceTable";

interface Props {
  filters: SilenceFilters;
  onFilters: (filters: SilenceFilters) => void;
}

const STATES = ["all", "active", "pending", "expired"] as const;
const EMPTY: Record<(typeof STATES)[number], string> = {
  all: "No silences yet",
  active: "No active silences",
  pending: "No pending silences",
  expired: "No expired silences",
};

/** Silences and maintenance windows: what is kept quiet, until when, and by whom. */
export function SilencesPage({ filters, onFilters }: Props) {
  const silences = useSilences(filters.state);
  const end = useChangeSilence();
  const [dialog, setDialog] = useState<Partial<Silence> | null>(null);
  const state = filters.state ?? "all";
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Silences</Title>
        <Group gap={8}>
          <Button variant="default" onClick={() => setDialog({ kind: "maintenance" })}>
            Plan maintenance
          </Button>
          <Button onClick={() => setDialog({})}>Silence incidents</Button>
        </Group>
      </Group>
      <SegmentedControl
        aria-label="State"
        value={state}
        style={{ alignSelf: "flex-start" }}
        onChange={(value) => onFilters(value === "all" ? {} : { state: value as Silence["state"] })}
        data={STATES.map((name) => ({ value: name, label: name.charAt(0).toUpperCase() + name.slice(1) }))}
      />
      <ListPanel
        title="Silences and maintenance windows"
        pages={silences}
        problem={end.error}
        empty={
          <EmptyState title={EMPTY[state]}>
            Incidents that match an active silence are suppressed: they stay in the list, and no notifications are sent.
            Plan a maintenance window before working on a host or a rack.
          </EmptyState>
        }
        moreLabel="Show older silences"
      >
        {(items) => (
          <SilenceTable
            silences={items}
            onEdit={setDialog}
            onAgain={({ kind, matchers, reason }) => setDialog({ kind, matchers, reason })}
            onEnd={(id) => end.mutate({ kind: "end", id })}
          />
        )}
      </ListPanel>
      {dialog && <SilenceDialog initial={dialog} onClose={() => setDialog(null)} />}
    </Stack>
  );
}
