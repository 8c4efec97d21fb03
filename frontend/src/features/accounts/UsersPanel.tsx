import { Button, PasswordInput, Select, Switch, Table, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { FormDialog } from "@/lib/ui/FormDialog";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { useChangeUser, useCreateUser, useResetSecondFactor, useUsers } from "./queries";
import { SHORTEST_PASSWORD } from "./passwords";
import { ROLES, toRole } from "./roles";

function NewUserDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateUser();
  const form = useForm({
    initialValues: { username: "", password: "", role: "viewer" },
    validate: {
      username: (value) =>
        /^[a-z0-9][a-z0-9._@-]{0,99}$/.test(value)
          ? null
          : "Lowercase letters, digits and . _ @ -; must start with a letter or digit",
      password: (value) => (value.length >= SHORTEST_PASSWORD ? null : `At least ${SHORTEST_PASSWORD} characters`),
    },
  });
  return (
    <FormDialog
      title="New user"
      submit="Create"
      request={create}
      onSubmit={form.onSubmit((values) =>
        create.mutate({ ...values, role: toRole(values.role) }, { onSuccess: onClose }),
      )}
      onClose={onClose}
    >
      <TextInput label="User name" autoComplete="off" {...form.getInputProps("username")} />
      <PasswordInput
        label="Password"
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": "Show password" }}
        {...form.getInputProps("password")}
      />
      <Select
        label="Role"
        data={ROLES.map((role) => ({ ...role }))}
        allowDeselect={false}
        {...form.getInputProps("role")}
      />
    </FormDialog>
  );
}

const TITLES = ["User name", "Role", "Created", "Last sign-in", "Second factor", "Enabled"];

export function UsersPanel() {
  const users = useUsers();
  const change = useChangeUser();
  const reset = useResetSecondFactor();
  const { time } = useTimeFormat();
  const [opened, dialog] = useDisclosure(false);
  return (
    <>
      <ListPanel
        title="Users"
        actions={<Button onClick={dialog.open}>New user</Button>}
        pages={users}
        problem={change.error ?? reset.error}
        empty={<EmptyState title="No users yet">Add one for each person; scripts use API tokens.</EmptyState>}
        moreLabel="Show more users"
      >
        {(items) => (
          <HeadedTable label="Users" titles={TITLES}>
            {items.map((user) => (
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
                  {user.second_factor ? (
                    <ConfirmButton
                      label="Reset"
                      question={`Turn off the second factor of ${user.username}? Make sure that it is really they who ask.`}
                      confirm="Turn off"
                      onConfirm={() => reset.mutate(user.id)}
                    />
                  ) : (
                    "off"
                  )}
                </Table.Td>
                <Table.Td>
                  <Switch
                    aria-label={`${user.username} may sign in`}
                    checked={!user.disabled}
                    onChange={(event) =>
                      change.mutate({ id: user.id, change: { disabled: !event.currentTarget.checked } })
                    }
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </HeadedTable>
        )}
      </ListPanel>
      {opened && <NewUserDialog onClose={dialog.close} />}
    </>
  );
}
