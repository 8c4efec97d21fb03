import "@/lib/ui/mantineMore.css";
import { useCallback } from "react";
import { useOpenIncidents } from "@/shared/incidents/queries";
import { purposeOf } from "@/shared/remedies/order/purpose";
import { RemedyDialog } from "@/shared/remedies/order/RemedyDialog";

/** A remedy requested on the RNIC's page belongs to the open incident that suggests it. If incidents can't be read, it has none. */
export function RnicRemedyDialog({ host, pci, onClose }: { host: string; pci: string; onClose: () => void }) {
  const { data, isPending } = useOpenIncidents({ host, pci });
  const purposeFor = useCallback((action: string) => purposeOf(action, data ?? []), [data]);
  return (
    <RemedyDialog opened onClose={onClose} host={host} pci={pci} purposeFor={isPending ? undefined : purposeFor} />
  );
}
