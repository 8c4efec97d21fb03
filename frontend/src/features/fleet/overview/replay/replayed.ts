import type { FleetThen } from "@/lib/api/types";
import { type Columns, rnicKey } from "@/lib/stream/columns";
import type { FleetState } from "@/lib/stream/fleetStore";
import { endOf } from "./minutes";

/** The rows of today's fleet with the values of a past minute; an RNIC that has joined since has none. */
export function replayed(live: FleetState, then: FleetThen): FleetState {
  const rows = live.columns.host.length;
  const from = new Array<number>(rows).fill(-1);
  then.host.forEach((host, i) => {
    const row = live.index.get(rnicKey(host, then.pci[i] ?? ""));
    if (row !== undefined && row < rows) from[row] = i;
  });
  const column = <T>(values: readonly T[], missing: T): T[] =>
    from.map((i) => (i < 0 ? missing : (values[i] ?? missing)));
  const end = endOf(then.minute);
  const tx_gbps = column(then.tx_gbps, null);
  const headroom = column(then.headroom, null);
  const columns: Columns = {
    ...live.columns,
    headroom,
    nearest_wall: column(then.nearest_wall, null),
    symptoms: column(then.symptoms, []),
    recent: from.map(() => []),
    seen_at_ms: from.map((_, row) => (tx_gbps[row] === null && headroom[row] === null ? null : end)),
    cordoned: from.map(() => false), // nobody noted for how long
    tx_gbps,
    rx_gbps: column(then.rx_gbps, null),
  };
  return { ...live, columns, asOf: end };
}
