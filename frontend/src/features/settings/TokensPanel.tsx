import { Button, Group, Modal, NumberInput, Select, Stack, Table, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useForm } from "@mantine/form";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { useCreateToken, useDeleteToken, useTokens } from "./queries";
import { ROLES, toRole } from "./roles";

function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateToken();
  const form = useForm({
    initialValues: { name: "", role: "viewer", days: 90 as number | string },
    validate: { name: (value) => (value.trim() ? null : "Give it a name that says who uses it") },
  });
  return (
    <Modal opened onClose={onClose} title="New API token" size="lg">
      {create.data ? (
        <Stack gap={12}>
          <SecretOnce label="API token" secret={create.data.token} hint="Send it as Authorization: Bearer with each request." />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={form.onSubmit(({ name, role, days }) => create.mutate({ name: name.trim(), role: toRole(role), ttl_days: typeof days === "number" ? days : null }))}>
          <Stack gap={12}>
            <TextInput label="Name" placeholder="grafana" {...form.getInputProps("name")} />
            <Select label="Role" data={ROLES.map((role) => ({ ...role }))} allowDeselect={false} {...form.getInputProps("role")} />
            <NumberInput label="Expires after" suffix=" days" min={1} max={3650} placeholder="never" description="Leave it empty for a token that does not expire." {...form.getInputProps("days")} />
            {create.isError && <ProblemNotice error={create.error} />}
            <Group justify="flex-end">
              <Button type="submit" loading={create.isPending}>
                Make token
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

export function TokensPanel() {
  const tokens = useTokens();
  const remove = useDeleteToken();
  const { time } = useTimeFormat();
  const [opened, dialog] = useDisclosure(false);
  return (
    <Panel title="API tokens" flush actions={<Button size="compact-xs" onClick={dialog.open}>New token</Button>}>
      {remove.isError && <ProblemNotice error={remove.error} />}
      <div style={{ padding: tokens.data ? 0 : 12 }}>
        <QueryState query={tokens} isEmpty={(page) => page.items.length === 0} empty={<EmptyState title="No API token yet">Scripts and dashboards sign in with one; make it with the least role that does.</EmptyState>}>
          {(page) => (
            <Table aria-label="API tokens">
              <Table.Thead>
                <Table.Tr>
                  {["Name", "Role", "Begins with", "Made by", "Made", "Expires", "Last used", "Revoke"].map((title) => (
                    <Table.Th key={title}>{title}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {page.items.map((token) => (
                  <Table.Tr key={token.id}>
                    <Table.Td fw={600}>{token.name}</Table.Td>
                    <Table.Td>{token.role}</Table.Td>
                    <Table.Td ff="monospace">{token.prefix}…</Table.Td>
                    <Table.Td>{token.created_by}</Table.Td>
                    <Table.Td>{time(token.created_at)}</Table.Td>
                    <Table.Td>{token.expires_at ? time(token.expires_at) : "never"}</Table.Td>
                    <Table.Td>{token.last_used_at ? time(token.last_used_at) : "never"}</Table.Td>
                    <Table.Td>
                      <ConfirmButton label="Revoke" question={`Revoke ${token.name}? Whoever uses it is locked out at once.`} confirm="Revoke" onConfirm={() => remove.mutate(token.id)} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
        </QueryState>
      </div>
      {opened && <NewTokenDialog onClose={dialog.close} />}
    </Panel>
  );
}
