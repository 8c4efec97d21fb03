import { Group, Paper, Title } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./Panel.module.css";

interface Props {
  title: string;
  /** Next to the title: a count, a unit, a time. */
  aside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
  /** Holds a long table whose head stays in sight while the page scrolls. */
  long?: boolean;
  /** What is in it may use the height that its neighbours give it. */
  fill?: boolean;
}

/** A titled box: the unit of every page. */
export function Panel({ title, aside, actions, children, flush = false, long = false, fill = false }: Props) {
  return (
    <Paper
      component="section"
      aria-label={title}
      withBorder
      bg="var(--ww-panel)"
      className={fill ? classes["fill"] : undefined}
      style={{ borderColor: "var(--ww-line)", minWidth: 0 }}
    >
      <Group justify="space-between" px="sm" py={7} gap="sm" style={{ borderBottom: "1px solid var(--ww-line)" }}>
        <Group gap="sm" align="baseline">
          <Title order={2} size="h3">
            {title}
          </Title>
          {aside}
        </Group>
        {actions}
      </Group>
      <div className={[classes["body"], flush && classes["flush"], long && classes["long"]].filter(Boolean).join(" ")}>
        {children}
      </div>
    </Paper>
  );
}
