import { Progress, Stack, Text } from "@mantine/core";
import type { Rollout } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";

/** How far a rollout is; for a rollback: how far it is, who requested it, and what blocks it. */
export function RolloutProgress({ rollout }: { rollout: Rollout }) {
  const { time } = useTimeFormat();
  const { undo, confirmed, targets } = rollout;
  if (undo === null) {
    const text = `${confirmed} of ${targets} confirmed`;
    return (
      <Stack gap={4}>
        <Progress value={(100 * confirmed) / targets} size="sm" aria-label={text} />
        <Text size="sm">{text}</Text>
      </Stack>
    );
  }
  const text = `${undo.undone} of ${undo.targets} rolled back`;
  return (
    <Stack gap={4} role="group" aria-label="Rollback">
      <Progress
        value={undo.targets === 0 ? 100 : (100 * undo.undone) / undo.targets}
        size="sm"
        color="orange"
        aria-label={text}
      />
      <Text size="sm">
        {text} · requested by {undo.by}, {time(undo.began_at)}: {undo.reason}
      </Text>
      {undo.message && (
        <Text size="sm" role="status" fw={600}>
          {undo.message}
        </Text>
      )}
    </Stack>
  );
}
