import { Group, Skeleton, Stack } from "@mantine/core";

export function WallSkeleton() {
  return (
    <Stack gap={10} h="100%" role="status" aria-busy="true" aria-label="Loading the fleet">
      <Group gap="xs">
        {[220, 120, 120, 120, 120].map((width, i) => (
          <Skeleton key={i} height={28} width={width} />
        ))}
      </Group>
      <Skeleton height={62} />
      <Skeleton height={70} />
      <Skeleton style={{ flex: 1 }} mih={300} />
    </Stack>
  );
}
