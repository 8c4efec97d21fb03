import { Button, NumberInput, Select, Table, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { FormDialog } from "@/lib/ui/FormDialog";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { useCreateToken, useDeleteToken, useTokens } from "./queries";
import { ROLES, toRole } from "./roles";

function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateToken();
  const form = useForm({
    initialValues: { name: "", role: "viewer", days: 90 as number | string },
    validate: { name: (value) => (value.trim() ? null : "Enter a name that says who uses it") },
  });
  return (
    <FormDialog
      title="New API token"
      submit="Create token"
      request={create}
      onSubmit={form.onSubmit(({ name, role, days }) =>
        create.mutate({ name: name.trim(), role: toRole(role), ttl_days: typeof days === "number" ? days : null }),
      )}
      onClose={onClose}
      outcome={
        create.data && (
          <SecretOnce
            label="API token"
            secret={create.data.token}
            hint="Send it as Authorization: Bearer with each request."
          />
        )
      }
    >
      <TextInput label="Name" placeholder="grafana" {...form.getInputProps("name")} />
      <Select
        label="Role"
        data={ROLES.map((role) => ({ ...role }))}
        allowDeselect={false}
        {...form.getInputProps("role")}
      />
      <NumberInput
        label="Expires after"
        suffix=" days"
        min={1}
        max={3650}
        placeholder="never"
        description="Leave empty for a token that does not expire."
        {...form.getInputProps("days")}
      />
    </FormDialog>
  );
}

export function TokensPanel() {
  const tokens = useTokens();
  const remove = useDeleteToken();
  const { time } = useTimeFormat();
  const [opened, dialog] = useDisclosure(false);
  return (
    <>
      <ListPanel
        title="API tokens"
        actions={<Button onClick={dialog.open}>New token</Button>}
        pages={tokens}
        problem={remove.error}
        empty={
          <EmptyState title="No API tokens yet">
            Scripts and dashboards sign in with one. Choose the least privileged role that works.
          </EmptyState>
        }
        moreLabel="Show more tokens"
      >
        {(items) => (
          <HeadedTable
            label="API tokens"
            titles={["Name", "Role", "Prefix", "Created by", "Created", "Expires", "Last used", "Revoke"]}
          >
            {items.map((token) => (
              <Table.Tr key={token.id}>
                <Table.Td fw={600}>{token.name}</Table.Td>
                <Table.Td>{token.role}</Table.Td>
                <Table.Td ff="monospace">{token.prefix}…</Table.Td>
                <Table.Td>{token.created_by}</Table.Td>
                <Table.Td>{time(token.created_at)}</Table.Td>
                <Table.Td>{token.expires_at ? time(token.expires_at) : "never"}</Table.Td>
                <Table.Td>{token.last_used_at ? time(token.last_used_at) : "never"}</Table.Td>
                <Table.Td>
                  <ConfirmButton
                    label="Revoke"
                    question={`Revoke ${token.name}? Anything that uses it loses access immediately.`}
                    confirm="Revoke"
                    onConfirm={() => remove.mutate(token.id)}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </HeadedTable>
        )}
      </ListPanel>
      {opened && <NewTokenDialog onClose={dialog.close} />}
    </>
  );
}
