import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Nothing here: what that means and what to do about it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap={4} py="lg" px="md" ta="center">
      <Text fw={600} size="sm">
        {title}
      </Text>
      {children && (
        <Text component="div" size="sm" c="dimmed" maw={560} style={{ textWrap: "balance" }}>
          {children}
        </Text>
      )}
    </Stack>
  );
}
