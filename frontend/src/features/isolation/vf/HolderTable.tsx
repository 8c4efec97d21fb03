import { Table, Text } from "@mantine/core";
import type { VfHistory } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { PodOwner, podFacts } from "@/lib/ui/PodOwner";
import { tenantText } from "../text";

/** The pods that held the VF in turn: a second belongs to the one that held it then. */
export function HolderTable({ holders }: { holders: VfHistory["holders"] }) {
  const { time } = useTimeFormat();
  const now = useNow();
  return (
    <HeadedTable label="Pods that held this VF" titles={["Pod", "Tenant", "From", "To", "Held for"]}>
      {holders.map((holder) => (
        <Table.Tr key={holder.since}>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            {holder.pod ?? `container ${holder.container?.slice(0, 12) ?? "unknown"}`}
            {podFacts(holder) !== null && " "}
            <PodOwner owner={holder.owner} labels={holder.labels} />
          </Table.Td>
          <Table.Td>{tenantText(holder.tenant)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{time(holder.since)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {holder.until === null ? (
              <Text span size="sm" fw={600}>
                holds it now
              </Text>
            ) : (
              time(holder.until)
            )}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {formatDuration((holder.until === null ? now : Date.parse(holder.until)) - Date.parse(holder.since))}
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
