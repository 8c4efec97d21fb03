import { Group, Stack, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { AuditLog } from "./AuditLog";
import classes from "./SettingsPage.module.css";
import { TokensPanel } from "./TokensPanel";
import { UsersPanel } from "./UsersPanel";

const SECTIONS = [
  { id: "tokens", label: "API tokens" },
  { id: "users", label: "Users" },
  { id: "audit", label: "Audit log" },
] as const;

export function SettingsPage({ section }: { section: string }) {
  return (
    <Stack gap={12}>
      <Title order={1}>Settings</Title>
      <Group component="nav" gap={4} aria-label="Settings">
        {SECTIONS.map(({ id, label }) => (
          <Link key={id} to="/settings/$section" params={{ section: id }} className={classes["tab"]}>
            {label}
          </Link>
        ))}
      </Group>
      {section === "users" ? <UsersPanel /> : section === "audit" ? <AuditLog /> : <TokensPanel />}
    </Stack>
  );
}
