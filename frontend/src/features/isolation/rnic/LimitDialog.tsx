import { useMemo } from "react";
import type { VfIsolation } from "@/lib/api/types";
import { useOpenIncidents } from "@/shared/incidents/queries";
import { RemedyDialog } from "@/shared/remedies/order/RemedyDialog";
import { LIMIT_ACTION, purposeForVf, recommend } from "./recommendation";

interface Props {
  host: string;
  pci: string;
  vf: VfIsolation;
  onClose: () => void;
}

/** Limits what a VF sends, at the rate that an incident recommends for it, else at its fair share. */
export function LimitDialog({ host, pci, vf, onClose }: Props) {
  const { data, isPending } = useOpenIncidents({ host, pci });
  const purposeFor = useMemo(() => purposeForVf(data ?? [], vf.vf), [data, vf.vf]);
  const suggestion = isPending ? undefined : purposeFor(LIMIT_ACTION)?.suggestion;
  const own = suggestion ? null : recommend(vf);
  const derivation = suggestion?.derivations?.["max_tx_mbps"];
  return (
    <RemedyDialog
      opened
      onClose={onClose}
      host={host}
      pci={pci}
      action={LIMIT_ACTION}
      purposeFor={isPending ? undefined : purposeFor}
      start={{ params: { vf: vf.vf, ...(own ? { max_tx_mbps: own.mbps } : {}) }, why: own?.why ?? derivation }}
    />
  );
}
