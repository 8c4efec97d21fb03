import { Table, Text } from "@mantine/core";
import { plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useDelivery } from "./queries";

/** How many agents run the policies of today, and who will not take them. */
export function DeliveryNote() {
  const delivery = useDelivery();
  const { time } = useTimeFormat();
  return (
    <QueryState query={delivery} lines={2}>
      {(data) => {
        const waiting = data.takes - data.applied - data.refused;
        const tone = data.refused > 0 ? "bad" : waiting > 0 ? "warn" : data.takes > 0 ? "good" : "quiet";
        return (
          <div data-applied={data.applied} data-takes={data.takes}>
            <StatusMark tone={tone}>
              {data.takes === 0
                ? "No agents run policies yet"
                : `${data.applied} of ${plural(data.takes, "agent")} up to date`}
            </StatusMark>
            <Text size="xs" c="dimmed">
              {[
                plural(data.policies, "policy", "policies"),
                `tables ${data.hash.replace("sha256:", "").slice(0, 12)} (${(data.bytes / 1024).toFixed(0)} KiB)`,
                waiting > 0 &&
                  `${plural(waiting, "agent")} on an older version${data.connected < data.takes ? `; ${data.takes - data.connected} not connected` : ""}`,
              ]
                .filter(Boolean)
                .join(" · ")}
            </Text>
            {data.left_out.map((reason) => (
              <Text key={reason} size="sm" role="alert" style={{ color: "var(--ww-bad)" }}>
                Not delivered: {reason}
              </Text>
            ))}
            {data.refusals.length > 0 && (
              <HeadedTable label="Refusals" titles={["Host", "At", "Reason"]}>
                {data.refusals.map((refusal) => (
                  <Table.Tr key={refusal.host}>
                    <Table.Td>{refusal.host}</Table.Td>
                    <Table.Td style={{ whiteSpace: "nowrap" }}>{time(refusal.at)}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{refusal.reason}</Table.Td>
                  </Table.Tr>
                ))}
              </HeadedTable>
            )}
          </div>
        );
      }}
    </QueryState>
  );
}
