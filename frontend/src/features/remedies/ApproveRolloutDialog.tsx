import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rollout } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { ActionName } from "./ActionName";
import { useChangeRollout } from "./rolloutQueries";

/** A second person's yes to a rollout, with what they want to be remembered. */
export function ApproveRolloutDialog({ rollout, onClose }: { rollout: Rollout; onClose: () => void }) {
  const change = useChangeRollout();
  const [comment, setComment] = useState("");
  const canary = rollout.waves[0]?.length ?? 0;
  return (
    <FormDialog
      title="Approve the rollout"
      submit="Approve"
      request={change}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ id: rollout.id, kind: "approve", comment: comment.trim() || null }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">
        <ActionName action={rollout.action} /> on {rollout.targets} {rollout.targets === 1 ? "target" : "targets"}, asked for by {rollout.requested_by}: {rollout.reason}. The canary ({canary}) begins {rollout.not_before ? "with its maintenance window" : "at once"}.
      </Text>
      <TextInput label="Comment" description="Optional; kept in the audit log and shown with the rollout" data-autofocus value={comment} onChange={(event) => setComment(event.currentTarget.value)} maxLength={200} />
    </FormDialog>
  );
}
