import { Group } from "@mantine/core";
import { StatusMark } from "@/lib/ui/StatusMark";

/** What to keep in mind when one reads a forecast. */
export function ForecastMarks({ cold, violated }: { cold: boolean; violated: boolean }) {
  return (
    <Group gap="2px 8px">
      {cold && <StatusMark tone="quiet">Cold start</StatusMark>}
      {violated && <StatusMark tone="warn">Policy violated</StatusMark>}
    </Group>
  );
}
