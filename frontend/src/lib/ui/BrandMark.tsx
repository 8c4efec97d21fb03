import { Group, Text } from "@mantine/core";

/** The product's sign and, unless `bare`, its name. */
export function BrandMark({ bare = false }: { bare?: boolean }) {
  return (
    <Group gap={8} wrap="nowrap">
      <img src="/favicon.svg" width={22} height={22} alt="" />
      {!bare && (
        <Text fw={700} size="md" style={{ letterSpacing: "0.01em" }}>
          Wallwatch
        </Text>
      )}
    </Group>
  );
}
