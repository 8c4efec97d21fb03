import { Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import classes from "./FunctionsHeader.module.css";

const EXACT = { exact: true, includeSearch: false } as const;

/** The head of the three pages about network functions on SmartNICs. */
export function FunctionsHeader({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  return (
    <Stack gap={6}>
      <Group justify="space-between">
        <Group gap={16}>
          <Title order={1}>Functions</Title>
          <Group component="nav" gap={4} aria-label="Functions">
            <Link to="/functions" activeOptions={EXACT} className={classes["tab"]}>
              Card
            </Link>
            <Link to="/functions/placement" activeOptions={EXACT} className={classes["tab"]}>
              Placement
            </Link>
            <Link to="/functions/models" activeOptions={EXACT} className={classes["tab"]}>
              Models
            </Link>
          </Group>
        </Group>
        {actions}
      </Group>
      <Text size="sm" c="dimmed" maw={900}>
        {children}
      </Text>
    </Stack>
  );
}
