import { Modal, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RemedyAction } from "@/lib/api/types";
import { QueryState } from "@/lib/ui/QueryState";
import { useActions } from "../queries";
import { isOfPlan, type StartValues } from "./params";
import type { PurposeFor } from "./purpose";
import { RemedyFollow } from "./RemedyFollow";
import { RemedyForm } from "./RemedyForm";

interface Props {
  opened: boolean;
  onClose: () => void;
  host: string;
  pci: string;
  action?: string;
  /** Which incident an action is for; undefined while that is looked up. */
  purposeFor: PurposeFor | undefined;
  /** Parameters that are already set, such as the plan to apply; then only `action` is offered. */
  fixed?: Readonly<Record<string, string>>;
  /** What its parameters start with, before what an incident suggests; they can be edited. */
  start?: StartValues;
  /** Open on an order that was given before. */
  remedyId?: string;
}

/** A plan is created and reviewed on its own page before it can be applied. */
function offered(
  actions: readonly RemedyAction[],
  action: string | undefined,
  fixed: Props["fixed"],
): readonly RemedyAction[] {
  return fixed ? actions.filter((each) => each.action === action) : actions.filter((each) => !isOfPlan(each));
}

/** Choosing an action, its dry run, and its confirmation by telemetry, in one dialog. */
export function RemedyDialog({ opened, onClose, host, pci, action, purposeFor, fixed, start, remedyId }: Props) {
  const actions = useActions();
  const [appliedId, setAppliedId] = useState<string | null>(remedyId ?? null);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={720}
      title={`Remedy for ${host} ${pci}`.trim()}
      overlayProps={{ backgroundOpacity: 0.5 }}
    >
      {appliedId !== null ? (
        <RemedyFollow id={appliedId} onAgain={() => setAppliedId(null)} />
      ) : (
        <QueryState
          query={{ ...actions, data: actions.data && purposeFor && { list: actions.data, purposeFor } }}
          lines={6}
        >
          {(known) => (
            <>
              <RemedyForm
                actions={offered(known.list, action, fixed)}
                fixed={fixed}
                start={start}
                host={host}
                pci={pci}
                initialAction={action}
                purposeFor={known.purposeFor}
                onApplied={setAppliedId}
              />
              {!fixed && (
                <Text size="sm" mt={8}>
                  <Link to="/rollouts/new" search={{ host, ...(action ? { action } : {}) }}>
                    Roll out to more hosts instead
                  </Link>
                </Text>
              )}
            </>
          )}
        </QueryState>
      )}
    </Modal>
  );
}
