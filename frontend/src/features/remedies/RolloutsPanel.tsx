import { Button, Group, Progress, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "./ActionName";
import { ParamsLine } from "./ParamsLine";
import { EndRolloutDialog } from "./EndRolloutDialog";
import { ROLLOUT_STATES, waveText } from "./rollout";
import { useChangeRollout, useRollouts } from "./rolloutQueries";

function RolloutRow({ rollout, onEnd, change }: { rollout: Rollout; onEnd: () => void; change: ReturnType<typeof useChangeRollout> }) {
  const { time } = useTimeFormat();
  const { id, state } = rollout;
  const mark = ROLLOUT_STATES[state];
  const busy = change.isPending && change.variables.id === id;
  return (
    <Stack gap={4} component="li" data-testid="rollout" data-state={state} style={{ borderBottom: "1px solid var(--ww-line)", padding: "8px 12px" }}>
      <Group justify="space-between" gap={8}>
        <Group gap={10}>
          <StatusMark tone={mark.tone}>{mark.label}</StatusMark>
          <Text size="sm">
            <b>
              <ActionName action={rollout.action} />
            </b>{" "}
            <ParamsLine action={rollout.action} params={rollout.params} />
          </Text>
        </Group>
        <Group gap={6}>
          {state === "proposed" && (
            <Button size="compact-xs" loading={busy} onClick={() => change.mutate({ id, kind: "approve" })}>
              Approve
            </Button>
          )}
          {state === "running" && (
            <Button size="compact-xs" variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "pause" })}>
              Pause
            </Button>
          )}
          {state === "paused" && (
            <Button size="compact-xs" variant="default" loading={busy} onClick={() => change.mutate({ id, kind: "resume" })}>
              Resume
            </Button>
          )}
          {(state === "proposed" || state === "running" || state === "paused") && (
            <Button size="compact-xs" variant="default" onClick={onEnd}>
              {state === "proposed" ? "Reject" : "Stop"}
            </Button>
          )}
        </Group>
      </Group>
      <Text size="sm">
        {rollout.reason} · ordered by {rollout.requested_by}, {time(rollout.created_at)}
        {rollout.decided_by ? ` · ${state === "rejected" ? "rejected" : "approved"} by ${rollout.decided_by}` : ""}
      </Text>
      {rollout.message && (
        <Text size="sm" role="status">
          {rollout.message}
        </Text>
      )}
      <Progress value={(100 * rollout.verified) / rollout.targets} size="sm" aria-label={`${rollout.verified} of ${rollout.targets} verified`} />
      <Text size="xs" c="dimmed">
        {rollout.waves.map((wave, i) => waveText(wave, i)).join(" · ")}
      </Text>
    </Stack>
  );
}

/** Remedies that go over many hosts, a canary first, and how far each has come. */
export function RolloutsPanel() {
  const rollouts = useRollouts();
  const change = useChangeRollout();
  const [ending, setEnding] = useState<Rollout | null>(null);
  return (
    <>
      <ListPanel
        title="Rollouts"
        pages={rollouts}
        problem={change.error}
        empty={<EmptyState title="No remedy was rolled out yet">A rollout takes one remedy over many hosts, a canary first; POST /api/v1/rollouts orders one.</EmptyState>}
        moreLabel="Show older rollouts"
      >
        {(items) => (
          <Stack gap={0} component="ul" p={0} m={0} style={{ listStyle: "none" }}>
            {items.map((rollout) => (
              <RolloutRow key={rollout.id} rollout={rollout} change={change} onEnd={() => setEnding(rollout)} />
            ))}
          </Stack>
        )}
      </ListPanel>
      {ending && <EndRolloutDialog rollout={ending} onClose={() => setEnding(null)} />}
    </>
  );
}
