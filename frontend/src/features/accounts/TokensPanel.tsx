import { Button, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { components } from "@/lib/api/schema";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { NewTokenDialog } from "./NewTokenDialog";
import { useDeleteToken, useTokens } from "./queries";
import { limitsOf, stateNote } from "./scopes";

const TITLES = ["Name", "Owner", "Role", "Scopes", "Hosts and racks", "Created", "Expires", "Last used", "Revoke"];

function TokenRow({ token, onRevoke }: { token: components["schemas"]["Token"]; onRevoke: () => void }) {
  const { time } = useTimeFormat();
  const note = stateNote(token);
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={600} size="sm">
          {token.name}
        </Text>
        <Text ff="monospace" size="xs" c="dimmed">
          {token.prefix}…
        </Text>
      </Table.Td>
      <Table.Td>{token.owner ?? "none"}</Table.Td>
      <Table.Td>
        {token.role}
        {note && (
          <Text size="xs" fw={600}>
            {note}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{token.scopes.join(", ")}</Table.Td>
      <Table.Td title={[...token.hosts, ...token.racks].join(", ")}>{limitsOf(token)}</Table.Td>
      <Table.Td>
        {time(token.created_at)}
        <Text size="xs" c="dimmed">
          by {token.created_by}
        </Text>
      </Table.Td>
      <Table.Td>{token.expires_at ? time(token.expires_at) : "never"}</Table.Td>
      <Table.Td>
        {token.last_used_at ? time(token.last_used_at) : "never"}
        {token.last_used_address && (
          <Text size="xs" c="dimmed">
            from {token.last_used_address}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <ConfirmButton
          label="Revoke"
          question={`Revoke ${token.name}? Anything that uses it loses access immediately.`}
          confirm="Revoke"
          onConfirm={onRevoke}
        />
      </Table.Td>
    </Table.Tr>
  );
}

export function TokensPanel() {
  const tokens = useTokens();
  const remove = useDeleteToken();
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
            Scripts and dashboards sign in with one. Choose the least privileged role and scopes that work.
          </EmptyState>
        }
        moreLabel="Show more tokens"
      >
        {(items) => (
          <HeadedTable label="API tokens" titles={TITLES}>
            {items.map((token) => (
              <TokenRow key={token.id} token={token} onRevoke={() => remove.mutate(token.id)} />
            ))}
          </HeadedTable>
        )}
      </ListPanel>
      {opened && <NewTokenDialog onClose={dialog.close} />}
    </>
  );
}
