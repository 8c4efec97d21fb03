import { Text } from "@mantine/core";
import { useTimeFormat } from "../time/ZoneContext";

/** Over data that is still shown although its last update failed: since when it is old, and why. */
export function StaleNote({ since, error }: { since: number; error: unknown }) {
  const { clock } = useTimeFormat();
  return (
    <Text size="xs" role="status" mb={6} style={{ color: "var(--ww-warn)" }}>
      ▲ Stale since {clock(since)}: {error instanceof Error ? error.message : "the last update failed"}
    </Text>
  );
}
