import { Button, Group, Table, Text } from "@mantine/core";
import { useState } from "react";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useSignInMethods } from "@/shared/session";
import { PasswordDialog } from "./PasswordDialog";
import { type Account, useAccount } from "./queries";
import { TurnOffDialog } from "./TurnOffDialog";
import { TurnOnDialog } from "./TurnOnDialog";

type Dialog = "password" | "on" | "off";

function SecondFactor({ account, onOpen }: { account: Account; onOpen: (dialog: Dialog) => void }) {
  const { time } = useTimeFormat();
  const left = account.recovery_codes_left;
  if (account.second_factor_since === null)
    return (
      <Group gap="md">
        <Text size="sm">Off: a password alone signs in</Text>
        <Button variant="default" onClick={() => onOpen("on")}>
          Turn on
        </Button>
      </Group>
    );
  return (
    <Group gap="md">
      <Text size="sm">
        Authenticator app since {time(account.second_factor_since)}; {left} recovery {left === 1 ? "code" : "codes"}{" "}
        left
        {left < 3 && ". For new ones, turn it off and on again"}
      </Text>
      <Button variant="default" onClick={() => onOpen("off")}>
        Turn off
      </Button>
    </Group>
  );
}

function Facts({ account, onOpen }: { account: Account; onOpen: (dialog: Dialog) => void }) {
  const { time } = useTimeFormat();
  const provider = useSignInMethods().data?.single_sign_on ?? "the sign-in provider";
  return (
    <Table aria-label="Account" variant="vertical" layout="fixed">
      <Table.Tbody>
        <Table.Tr>
          <Table.Th w={180}>User name</Table.Th>
          <Table.Td>{account.username}</Table.Td>
        </Table.Tr>
        <Table.Tr>
          <Table.Th>Role</Table.Th>
          <Table.Td>{account.role}</Table.Td>
        </Table.Tr>
        <Table.Tr>
          <Table.Th>Created</Table.Th>
          <Table.Td>{time(account.created_at)}</Table.Td>
        </Table.Tr>
        {account.single_sign_on ? (
          <Table.Tr>
            <Table.Th>Signs in with</Table.Th>
            <Table.Td>{provider}. Change your password and second factor there.</Table.Td>
          </Table.Tr>
        ) : (
          <>
            <Table.Tr>
              <Table.Th>Password</Table.Th>
              <Table.Td>
                <Button variant="default" onClick={() => onOpen("password")}>
                  Change password
                </Button>
              </Table.Td>
            </Table.Tr>
            <Table.Tr>
              <Table.Th>Second factor</Table.Th>
              <Table.Td>
                <SecondFactor account={account} onOpen={onOpen} />
              </Table.Td>
            </Table.Tr>
          </>
        )}
      </Table.Tbody>
    </Table>
  );
}

export function AccountPanel() {
  const account = useAccount();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Panel title="Sign-in" flush>
        <div style={{ padding: account.data && !account.error ? 0 : 12 }}>
          <QueryState query={account}>{(data) => <Facts account={data} onOpen={setDialog} />}</QueryState>
        </div>
      </Panel>
      {dialog === "password" && <PasswordDialog onClose={close} />}
      {dialog === "on" && <TurnOnDialog onClose={close} />}
      {dialog === "off" && <TurnOffDialog onClose={close} />}
    </>
  );
}
