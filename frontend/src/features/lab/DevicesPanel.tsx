import { Button, Code, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { LabDevice } from "@/lib/api/types";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayRun } from "./access";
import { countText } from "./labText";
import { useLabDevices } from "./queries";

const TITLES = ["Device", "State", "Parameters", "Brute force", "Place", "Actions"] as const;

function DeviceRow({ device }: { device: LabDevice }) {
  const mayRun = useMayRun();
  return (
    <Table.Tr data-testid="lab-device">
      <Table.Td>
        <Text size="sm">{device.name}</Text>
        {device.description !== "" && (
          <Text size="xs" c="dimmed">
            {device.description}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StatusMark tone={device.available ? "good" : "warn"}>
          {device.available ? "Ready" : "Not available"}
        </StatusMark>
        {device.problem !== null && (
          <Text size="xs" c="dimmed" maw={420}>
            {device.problem}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{device.parameters.length}</Table.Td>
      <Table.Td>{device.parameters.length > 0 ? `${countText(device.brute_force_tests)} tests` : "–"}</Table.Td>
      <Table.Td>
        {device.host !== null && device.pci !== null ? (
          <Link to="/rnics/$host/$pci" params={{ host: device.host, pci: device.pci }}>
            {device.host} {device.pci}
          </Link>
        ) : (
          "outside the fleet"
        )}
      </Table.Td>
      <Table.Td ta="right">
        {mayRun(device.run_role) && device.available && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Test ${device.name}`}
            renderRoot={(props) => <Link to="/lab/new" search={{ device: device.name }} {...props} />}
          >
            Test
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** The devices that runners offer, and what keeps one from being tested. */
export function DevicesPanel() {
  const devices = useLabDevices();
  return (
    <Panel title="Devices" flush={devices.data !== undefined}>
      <QueryState
        query={devices}
        lines={2}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <EmptyState title="No device to test">
            Set <Code>WALLWATCH_LAB_DEVICES</Code> to the devices&apos; commands, such as{" "}
            <Code>{'{"CX-6": "fleetsim dut --model CX-6"}'}</Code>, and start <Code>wallwatch job lab</Code>.
          </EmptyState>
        }
      >
        {({ items }) => (
          <HeadedTable label="Devices" titles={TITLES}>
            {items.map((device) => (
              <DeviceRow key={device.name} device={device} />
            ))}
          </HeadedTable>
        )}
      </QueryState>
    </Panel>
  );
}
