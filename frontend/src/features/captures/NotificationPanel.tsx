import { Table } from "@mantine/core";
import type { CaptureAnalysis } from "@/lib/api/types";
import { formatNs } from "@/lib/time/shortTimes";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { scopeText } from "./captureText";
import { MoreRows, useShownRows } from "./MoreRows";

/** How each receiver limits its congestion notifications. */
export function NotificationPanel({ analysis }: { analysis: CaptureAnalysis }) {
  const { shown, more } = useShownRows(analysis.notification_points);
  return (
    <Panel title="Congestion notification" flush>
      <HeadedTable
        label="Congestion notification"
        titles={["Receiver", "Limits CNPs", "Smallest interval", "CE-marked packets", "CNPs"]}
      >
        {shown.map((point) => (
          <Table.Tr key={point.notification_point}>
            <Table.Td>{point.notification_point}</Table.Td>
            <Table.Td>{scopeText(point)}</Table.Td>
            <Table.Td>{formatNs(point.min_interval_ns)}</Table.Td>
            <Table.Td>{point.ce_marked.toLocaleString("en")}</Table.Td>
            <Table.Td>{point.cnps.toLocaleString("en")}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      <MoreRows more={more} left={analysis.notification_points.length - shown.length} />
    </Panel>
  );
}
