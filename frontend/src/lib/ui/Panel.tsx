import { Group, Paper, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** Beside the title: a count, a unit, a time. */
  aside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}

/** A titled box: the unit of every page. */
export function Panel({ title, aside, actions, children, flush = false }: Props) {
  return (
    <Paper component="section" aria-label={title} withBorder bg="var(--ww-panel)" style={{ borderColor: "var(--ww-line)", minWidth: 0 }}>
      <Group justify="space-between" px="sm" py={7} gap="sm" style={{ borderBottom: "1px solid var(--ww-line)" }}>
        <Group gap="sm" align="baseline">
          <Title order={2} size="h3">
            {title}
          </Title>
          {aside}
        </Group>
        {actions}
      </Group>
      <div style={{ padding: flush ? 0 : "10px 12px", overflowX: "auto" }}>{children}</div>
    </Paper>
  );
}
