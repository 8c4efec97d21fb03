import { Modal, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { QueryState } from "@/lib/ui/QueryState";
import type { PurposeFor } from "./purpose";
import { useActions } from "./queries";
import { RemedyForm } from "./RemedyForm";
import { RemedyFollow } from "./RemedyFollow";

interface Props {
  opened: boolean;
  onClose: () => void;
  host: string;
  pci: string;
  action?: string;
  /** Which incident an action is for; undefined while that is looked up. */
  purposeFor: PurposeFor | undefined;
  /** Open on an order that was given before. */
  remedyId?: string;
}

/** From choosing an action over its dry run to the proof that it helped, in one dialog. */
export function RemedyDialog({ opened, onClose, host, pci, action, purposeFor, remedyId }: Props) {
  const actions = useActions();
  const [appliedId, setAppliedId] = useState<string | null>(remedyId ?? null);
  return (
    <Modal opened={opened} onClose={onClose} size={720} title={`Remedy for ${host} ${pci}`.trim()} overlayProps={{ backgroundOpacity: 0.5 }}>
      {appliedId !== null ? (
        <RemedyFollow id={appliedId} onAgain={() => setAppliedId(null)} />
      ) : (
        <QueryState query={{ ...actions, data: actions.data && purposeFor && { list: actions.data, purposeFor } }} lines={6}>
          {(known) => (
            <>
            <RemedyForm actions={known.list} host={host} pci={pci} initialAction={action} purposeFor={known.purposeFor} onApplied={setAppliedId} />
            <Text size="sm" mt={8}>
              <Link to="/rollouts/new" search={{ host, ...(action ? { action } : {}) }}>
                Roll it out to more hosts instead
              </Link>
            </Text>
            </>
          )}
        </QueryState>
      )}
    </Modal>
  );
}
