import { Group, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import classes from "./TenantsHeader.module.css";

const EXACT = { exact: true, includeSearch: false } as const;

/** The head of the three pages about tenants and what they were promised. */
export function TenantsHeader({ actions }: { actions?: ReactNode }) {
  return (
    <Group justify="space-between">
      <Group gap={16}>
        <Title order={1}>Tenants</Title>
        <Group component="nav" gap={4} aria-label="Tenants">
          <Link to="/tenants" activeOptions={EXACT} className={classes["tab"]}>
            Broken promises
          </Link>
          <Link to="/tenants/slos" activeOptions={EXACT} className={classes["tab"]}>
            SLOs
          </Link>
          <Link to="/tenants/report" activeOptions={EXACT} className={classes["tab"]}>
            Monthly report
          </Link>
        </Group>
      </Group>
      {actions}
    </Group>
  );
}
