import { Stack, Title } from "@mantine/core";
import { AccountPanel } from "./AccountPanel";
import { SessionsPanel } from "./SessionsPanel";

/** What concerns oneself only: how one signs in, and where one is signed in. */
export function AccountPage() {
  return (
    <Stack gap={12}>
      <Title order={1}>Account</Title>
      <AccountPanel />
      <SessionsPanel />
    </Stack>
  );
}
