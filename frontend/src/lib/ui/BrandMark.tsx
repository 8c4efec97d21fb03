import { Group, Text } from "@mantine/core";

export function BrandMark() {
  return (
    <Group gap={8} wrap="nowrap">
      <img src="/favicon.svg" width={22} height={22} alt="" />
      <Text fw={700} size="md" style={{ letterSpacing: "0.01em" }}>
        Wallwatch
      </Text>
    </Group>
  );
}
