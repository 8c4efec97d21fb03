import { Modal } from "@mantine/core";
import { useState } from "react";
import type { SuggestedRemedy } from "@/lib/api/types";
import { QueryState } from "@/lib/ui/QueryState";
import { useActions } from "./queries";
import { RemedyForm } from "./RemedyForm";
import { RemedyFollow } from "./RemedyFollow";

interface Props {
  opened: boolean;
  onClose: () => void;
  host: string;
  pci: string;
  incidentId?: string;
  suggestion?: SuggestedRemedy;
  /** Open on an order that was given before. */
  remedyId?: string;
}

/** From choosing an action over its dry run to the proof that it helped, in one dialog. */
export function RemedyDialog({ opened, onClose, host, pci, incidentId, suggestion, remedyId }: Props) {
  const actions = useActions();
  const [appliedId, setAppliedId] = useState<string | null>(remedyId ?? null);
  return (
    <Modal opened={opened} onClose={onClose} size={720} title={`Remedy for ${host} ${pci}`} overlayProps={{ backgroundOpacity: 0.5 }}>
      {appliedId !== null ? (
        <RemedyFollow id={appliedId} onAgain={() => setAppliedId(null)} />
      ) : (
        <QueryState query={actions} lines={6}>
          {(list) => <RemedyForm actions={list} host={host} pci={pci} incidentId={incidentId} suggestion={suggestion} onApplied={setAppliedId} />}
        </QueryState>
      )}
    </Modal>
  );
}
