import { Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { ActionName } from "@/shared/remedies/ActionName";
import { useChangeRollout } from "./queries";

/** A second person approves a rollout, with an optional comment. */
export function ApproveRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [comment, setComment] = useState("");
  const canary = rollout.waves[0]?.length ?? 0;
  return (
    <FormDialog
      title="Approve rollout"
      submit="Approve"
      request={change}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ id: rollout.id, kind: "approve", comment: comment.trim() || null }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">
        <ActionName action={rollout.action} /> on {rollout.targets} {rollout.targets === 1 ? "target" : "targets"},
        requested by {rollout.requested_by}: {rollout.reason}. The canary ({canary}) starts{" "}
        {rollout.not_before ? "with its maintenance window" : "immediately"}.
      </Text>
      <TextInput
        label="Comment"
        description="Optional; recorded in the audit log and shown with the rollout"
        data-autofocus
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
        maxLength={200}
      />
    </FormDialog>
  );
}

/** Rejects a rollout that has not started, or stops one that has. */
export function EndRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [reason, setReason] = useState("");
  const [undo, setUndo] = useState(false);
  const pending = rollout.state === "pending";
  const text = reason.trim();
  return (
    <FormDialog
      title={pending ? "Reject rollout" : "Stop rollout"}
      submit={pending ? "Reject" : "Stop"}
      request={change}
      disabled={text === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(
          pending
            ? { id: rollout.id, kind: "reject", reason: text }
            : { id: rollout.id, kind: "stop", reason: text, undo },
          { onSuccess: onClose },
        );
      }}
    >
      <Text size="sm">
        {pending
          ? "Nothing has reached a host."
          : "No further hosts are changed; remedies already running on a host continue. It cannot be resumed."}
      </Text>
      <TextInput
        label="Reason"
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {!pending && (
        <Checkbox
          label="Roll back what it has applied"
          description="Last wave first, one target alone before all others"
          checked={undo}
          onChange={(event) => setUndo(event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

/** Confirms the rollback of a rollout on every target, and requires a reason. */
export function UndoRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [reason, setReason] = useState(rollout.undo?.reason ?? "");
  const [despiteFailures, setDespiteFailures] = useState(false);
  const again = rollout.state === "undo_paused";
  const done = rollout.waves.flat().filter((target) => target.remedy_id !== null && target.state !== "undone").length;
  const text = reason.trim();
  return (
    <FormDialog
      title="Roll back rollout"
      submit={again ? "Try again" : "Roll back"}
      request={change}
      disabled={text === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ id: rollout.id, kind: "undo", reason: text, despiteFailures }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">
        Restores the previous state on up to {done} targets. One target goes first, alone; then the last wave, and so on
        back to the canary. If a target fails, the rollback pauses and you decide.
      </Text>
      <Text size="sm">Symptoms that the remedy fixed may return.</Text>
      <TextInput
        label="Reason"
        description="Shown in the audit log and notifications"
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={200}
      />
      <Checkbox
        label="Continue past targets that fail"
        checked={despiteFailures}
        onChange={(event) => setDespiteFailures(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}
