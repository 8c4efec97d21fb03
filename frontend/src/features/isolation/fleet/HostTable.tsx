import { Table, UnstyledButton } from "@mantine/core";
import type { HostBreakage } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Amount } from "./Amount";
import classes from "./tables.module.css";

interface Props {
  hosts: readonly HostBreakage[];
  onHost: (host: string) => void;
}

/** Hosts by broken seconds, worst first, as the API orders them. */
export function HostTable({ hosts, onHost }: Props) {
  const now = useNow();
  const { time } = useTimeFormat();
  const most = Math.max(1, ...hosts.map(({ broken_s }) => broken_s));
  return (
    <HeadedTable label="By host" titles={["Host", "Rack", "RNICs", "Broken seconds", "Last broken"]}>
      {hosts.map((each) => (
        <Table.Tr key={each.host} data-host={each.host}>
          <Table.Td>
            <UnstyledButton className={classes["filter"]} title="Show its RNICs only" onClick={() => onHost(each.host)}>
              {each.host}
            </UnstyledButton>
          </Table.Td>
          <Table.Td>{each.rack ?? "–"}</Table.Td>
          <Table.Td>{each.rnics.toLocaleString("en")}</Table.Td>
          <Table.Td className={classes["amount"]} w="40%">
            <Amount seconds={each.broken_s} most={most} />
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }} title={time(each.last_broken_at)}>
            {formatAgo(each.last_broken_at, now)}
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
