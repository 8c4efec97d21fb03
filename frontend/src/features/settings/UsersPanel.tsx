import { Button, Group, Modal, PasswordInput, Select, Stack, Switch, Table, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useForm } from "@mantine/form";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { useChangeUser, useCreateUser, useUsers } from "./queries";
import { ROLES, toRole } from "./roles";

const SHORTEST_PASSWORD = 12;

function NewUserDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateUser();
  const form = useForm({
    initialValues: { username: "", password: "", role: "viewer" },
    validate: {
      username: (value) => (/^[a-z0-9][a-z0-9._@-]{0,99}$/.test(value) ? null : "Lower-case letters, digits and . _ @ -, beginning with a letter or digit"),
      password: (value) => (value.length >= SHORTEST_PASSWORD ? null : `At least ${SHORTEST_PASSWORD} characters`),
    },
  });
  return (
    <Modal opened onClose={onClose} title="New user">
      <form onSubmit={form.onSubmit((values) => create.mutate({ ...values, role: toRole(values.role) }, { onSuccess: onClose }))} noValidate>
        <Stack gap={12}>
          <TextInput label="User name" autoComplete="off" {...form.getInputProps("username")} />
          <PasswordInput label="Password" autoComplete="new-password" visibilityToggleButtonProps={{ "aria-label": "Show password" }} {...form.getInputProps("password")} />
          <Select label="Role" data={ROLES.map((role) => ({ ...role }))} allowDeselect={false} {...form.getInputProps("role")} />
          {create.isError && <ProblemNotice error={create.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export function UsersPanel() {
  const users = useUsers();
  const change = useChangeUser();
  const { time } = useTimeFormat();
  const [opened, dialog] = useDisclosure(false);
  return (
    <Panel title="Users" flush actions={<Button size="compact-xs" onClick={dialog.open}>New user</Button>}>
      {change.isError && <ProblemNotice error={change.error} />}
      <div style={{ padding: users.data ? 0 : 12 }}>
        <QueryState query={users}>
          {(page) => (
            <Table aria-label="Users">
              <Table.Thead>
                <Table.Tr>
                  {["User name", "Role", "Made", "Last sign-in", "May sign in"].map((title) => (
                    <Table.Th key={title}>{title}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {page.items.map((user) => (
                  <Table.Tr key={user.id}>
                    <Table.Td fw={600}>{user.username}</Table.Td>
                    <Table.Td>
                      <Select
                        aria-label={`Role of ${user.username}`}
                        w={120}
                        data={ROLES.map((role) => role.value)}
                        value={user.role}
                        allowDeselect={false}
                        onChange={(value) => change.mutate({ id: user.id, change: { role: toRole(value) } })}
                      />
                    </Table.Td>
                    <Table.Td>{time(user.created_at)}</Table.Td>
                    <Table.Td>{user.last_sign_in_at ? time(user.last_sign_in_at) : "never"}</Table.Td>
                    <Table.Td>
                      <Switch aria-label={`${user.username} may sign in`} checked={!user.disabled} onChange={(event) => change.mutate({ id: user.id, change: { disabled: !event.currentTarget.checked } })} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
        </QueryState>
      </div>
      {opened && <NewUserDialog onClose={dialog.close} />}
    </Panel>
  );
}
