import { Progress, Stack, Text } from "@mantine/core";
import type { Rollout } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";

/** How far a rollout is; of one that is taken back how much of it is, who asked, and what holds it up. */
export function RolloutProgress({ rollout }: { rollout: Rollout }) {
  const { time } = useTimeFormat();
  const { undo, verified, targets } = rollout;
  if (undo === null) {
    const text = `${verified} of ${targets} verified`;
    return (
      <Stack gap={4}>
        <Progress value={(100 * verified) / targets} size="sm" aria-label={text} />
        <Text size="sm">{text}</Text>
      </Stack>
    );
  }
  const text = `${undo.undone} of ${undo.targets} taken back`;
  return (
    <Stack gap={4} role="group" aria-label="Taking it back">
      <Progress value={undo.targets === 0 ? 100 : (100 * undo.undone) / undo.targets} size="sm" color="orange" aria-label={text} />
      <Text size="sm">
        {text} · asked for by {undo.by}, {time(undo.began_at)}: {undo.reason}
      </Text>
      {undo.message && (
        <Text size="sm" role="status" fw={600}>
          {undo.message}
        </Text>
      )}
    </Stack>
  );
}
