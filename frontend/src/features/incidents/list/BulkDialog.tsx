import { Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { plural } from "@/lib/format";
import { AssigneeField } from "../actions/AssigneeField";
import type { BulkAction } from "./bulk";

export type Asked = "assign" | "comment" | "confirm";

interface Props {
  asked: Asked;
  action: BulkAction;
  count: number;
  me: string;
  onClose: () => void;
  onDone: (more: { assignee?: string | null; text?: string }) => void;
}

const TITLES: Record<Asked, string> = {
  assign: "Assign incidents",
  comment: "Comment on incidents",
  confirm: "Change many incidents",
};
const VERBS: Record<BulkAction, string> = {
  acknowledge: "Acknowledge",
  unacknowledge: "Unacknowledge",
  resolve: "Resolve",
  reopen: "Reopen",
  assign: "Assign",
  comment: "Comment",
};

/** What an action on many still needs to know: whom, what, or whether it is meant. */
export function BulkDialog({ asked, action, count, me, onClose, onDone }: Props) {
  const [assignee, setAssignee] = useState(me);
  const [text, setText] = useState("");
  const missing = (asked === "assign" && !assignee.trim()) || (asked === "comment" && !text.trim());
  return (
    <Modal opened onClose={onClose} title={TITLES[asked]}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing)
            onDone(
              asked === "assign" ? { assignee: assignee.trim() } : asked === "comment" ? { text: text.trim() } : {},
            );
        }}
      >
        <Stack gap={12}>
          {asked === "confirm" && (
            <Text size="sm">
              {VERBS[action]} all {plural(count, "incident")} matching the filters?{" "}
              {action === "acknowledge" || action === "reopen" ? "" : "This cannot be fully undone in one step."}
            </Text>
          )}
          {asked === "assign" && (
            <AssigneeField
              description={`Of ${plural(count, "incident")}; you are ${me}.`}
              value={assignee}
              onChange={setAssignee}
            />
          )}
          {asked === "comment" && (
            <Textarea
              label="Comment"
              description={`Added to ${plural(count, "incident")}`}
              data-autofocus
              autosize
              minRows={3}
              maxRows={10}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
          <Group justify="flex-end" gap={8}>
            {asked === "assign" && (
              <Button variant="default" onClick={() => onDone({ assignee: null })}>
                Unassign
              </Button>
            )}
            <Button type="submit" disabled={missing} data-autofocus={asked === "confirm" || undefined}>
              {VERBS[action]} {plural(count, "incident")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
