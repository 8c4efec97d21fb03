import type { CardHeadroom, FleetDetails } from "@/lib/api/types";
import { rnicKey } from "@/lib/stream/columns";
import type { FleetState } from "@/lib/stream/fleetStore";

/** A column of the details by the rows of the live fleet, which may have others or more. */
export function byRow<T>(
  { columns, index }: Pick<FleetState, "columns" | "index">,
  details: Pick<FleetDetails, "host" | "pci">,
  values: readonly T[],
) {
  const found = new Array<T | null>(columns.host.length).fill(null);
  details.host.forEach((host, i) => {
    const row = index.get(rnicKey(host, details.pci[i] ?? ""));
    if (row !== undefined) found[row] = values[i] ?? null;
  });
  return found;
}

/** Headrooms of cards with functions by the rows of the live fleet; null elsewhere. */
export function headroomsByRow(fleet: Pick<FleetState, "columns" | "index">, cards: readonly CardHeadroom[]) {
  const places = { host: cards.map(({ host }) => host), pci: cards.map(({ pci }) => pci) };
  return byRow(
    fleet,
    places,
    cards.map(({ headroom }) => headroom),
  );
}
