import { Group, Paper, Text } from "@mantine/core";
import { QueryState, type QueryLike } from "@/lib/ui/QueryState";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import type { ForecastCounts } from "@/lib/api/types";

function Counter({ count, label, tone }: { count: number; label: string; tone: Tone }) {
  return (
    <Paper
      component="section"
      aria-label={label}
      withBorder
      bg="var(--ww-panel)"
      px="md"
      py="xs"
      miw={155}
      style={{ borderColor: "var(--ww-line)" }}
    >
      <Text fw={700} fz={32} lh={1.1}>
        {count.toLocaleString("en")}
      </Text>
      <StatusMark tone={count === 0 ? "quiet" : tone}>{label}</StatusMark>
    </Paper>
  );
}

/** How many RNICs need a look now, and how many soon. */
export function ForecastCounters({ counts, withinText }: { counts: QueryLike<ForecastCounts>; withinText: string }) {
  return (
    <QueryState query={counts} lines={2}>
      {({ at_limit, likely }) => (
        <Group gap={12}>
          <Counter count={at_limit} label="At a limit now" tone="bad" />
          <Counter count={likely} label={`Likely within ${withinText}`} tone="warn" />
        </Group>
      )}
    </QueryState>
  );
}
