import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Rollout } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ListPanel } from "@/lib/ui/ListPanel";
import { StateMark } from "@/lib/ui/StateMark";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useRollouts } from "./queries";
import { RolloutActions } from "./RolloutActions";
import { RolloutProgress } from "./RolloutProgress";
import { decisionText, messageText, waveText } from "./rolloutText";

function RolloutRow({ rollout }: { rollout: Rollout }) {
  const { time } = useTimeFormat();
  const { id, state } = rollout;
  const remedies = useStates("remedy");
  const message = messageText(rollout);
  const decision = decisionText(rollout);
  return (
    <Stack
      gap={4}
      component="li"
      data-testid="rollout"
      data-state={state}
      style={{ borderBottom: "1px solid var(--ww-line)", padding: "8px 12px" }}
    >
      <Group justify="space-between" gap={8}>
        <Group gap={10}>
          <StateMark machine="rollout" state={state} />
          <Text size="sm">
            <Link to="/rollouts/$id" params={{ id }}>
              <ActionName action={rollout.action} />
            </Link>{" "}
            <ParamsLine action={rollout.action} params={rollout.params} />
          </Text>
        </Group>
        <RolloutActions rollout={rollout} size="compact-xs" />
      </Group>
      <Text size="sm">
        {rollout.reason} · requested by {rollout.requested_by}, {time(rollout.created_at)}
        {decision ? ` · ${decision}` : ""}
      </Text>
      {message !== null && (
        <Text size="sm" role="status">
          {message}
        </Text>
      )}
      <RolloutProgress rollout={rollout} />
      <Text size="xs" c="dimmed">
        {rollout.waves.map((wave, i) => waveText(remedies, wave, i)).join(" · ")}
      </Text>
    </Stack>
  );
}

/** Remedies that go over many hosts, a canary first, and how far each has come. */
export function RolloutsPage() {
  const rollouts = useRollouts();
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>Rollouts</Title>
        <Button renderRoot={(props) => <Link to="/rollouts/new" {...props} />}>Roll out a remedy</Button>
      </Group>
      <ListPanel
        title="Rollouts, newest first"
        pages={rollouts}
        empty={
          <EmptyState title="No rollouts yet">
            A rollout applies one remedy to many hosts, a canary first, and stops automatically when something goes
            wrong.
          </EmptyState>
        }
        moreLabel="Show older rollouts"
      >
        {(items) => (
          <Stack gap={0} component="ul" p={0} m={0} style={{ listStyle: "none" }}>
            {items.map((rollout) => (
              <RolloutRow key={rollout.id} rollout={rollout} />
            ))}
          </Stack>
        )}
      </ListPanel>
    </Stack>
  );
}
