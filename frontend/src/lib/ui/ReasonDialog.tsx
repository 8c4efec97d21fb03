import { Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { FormDialog } from "./FormDialog";

interface Props {
  title: string;
  submit: string;
  request: { error: unknown; isPending: boolean };
  onReason: (reason: string) => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something changes for the whole fleet, and why. */
export function ReasonDialog({ title, submit, request, onReason, onClose, children }: Props) {
  const [reason, setReason] = useState("");
  const given = reason.trim();
  return (
    <FormDialog
      title={title}
      submit={submit}
      request={request}
      disabled={given === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        onReason(given);
      }}
    >
      <Text size="sm">{children}</Text>
      <TextInput
        label="Reason"
        description="Recorded in the audit log"
        required
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}
