import { Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeRollout } from "./rolloutQueries";

/** Asks before a rollout is taken back on every target, and for the reason. */
export function UndoRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [reason, setReason] = useState(rollout.undo?.reason ?? "");
  const [despiteFailures, setDespiteFailures] = useState(false);
  const again = rollout.state === "undo_paused";
  const done = rollout.waves.flat().filter((target) => target.remedy_id !== null && target.state !== "undone").length;
  const text = reason.trim();
  return (
    <FormDialog
      title="Take the rollout back"
      submit={again ? "Try again" : "Take it back"}
      request={change}
      disabled={text === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ id: rollout.id, kind: "undo", reason: text, despiteFailures }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">
        Each of up to {done} targets gets back what it had before. One target goes alone first; then the last wave, and so on back to the canary. A target on which it fails holds up the others, and you decide.
      </Text>
      <Text size="sm">What the remedy has cured may return.</Text>
      <TextInput label="Reason" description="For the audit log and whoever is told" required data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} maxLength={200} />
      <Checkbox label="Go on past targets on which it fails" checked={despiteFailures} onChange={(event) => setDespiteFailures(event.currentTarget.checked)} />
    </FormDialog>
  );
}
