import { Button, Group, Modal, Stack } from "@mantine/core";
import type { FormEventHandler, ReactNode } from "react";
import { ProblemNotice } from "./ProblemNotice";

interface Props {
  title: string;
  submit: string;
  /** The request that the form makes. */
  request: { error: unknown; isPending: boolean };
  onSubmit: FormEventHandler<HTMLFormElement>;
  onClose: () => void;
  /** While something needed is missing. */
  disabled?: boolean;
  /** In place of the form once the request has succeeded: what must be read before the dialog is closed. */
  outcome?: ReactNode;
  children: ReactNode;
}

/** A form in a dialog: its fields, what went wrong, one button to send it. */
export function FormDialog({ title, submit, request, onSubmit, onClose, disabled, outcome, children }: Props) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      {outcome ? (
        <Stack gap={12}>
          {outcome}
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <form onSubmit={onSubmit} noValidate>
          <Stack gap={12}>
            {children}
            {request.error !== null && <ProblemNotice error={request.error} />}
            <Group justify="flex-end">
              <Button type="submit" loading={request.isPending} disabled={disabled}>
                {submit}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
