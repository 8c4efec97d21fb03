import { Group, Text } from "@mantine/core";
import { formatValue } from "@/lib/format";
import { RATE_SHADES } from "./colouring";

/** What the five shades of a rate mean: fifths of the fleet's highest. */
export function RateLegend({ highest }: { highest: number }) {
  return (
    <Group gap={6} role="img" aria-label={`Shades from 0 to ${formatValue(highest, "Gbit/s")}`}>
      <Text size="xs" c="dimmed">
        0
      </Text>
      {RATE_SHADES.map((shade) => (
        <span key={shade} style={{ width: 26, height: 12, background: `var(--ww-band-${shade})` }} />
      ))}
      <Text size="xs" c="dimmed">
        {formatValue(highest, "Gbit/s")}
      </Text>
    </Group>
  );
}
