import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { FormDialog } from "@/lib/ui/FormDialog";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "@/shared/remedies/ActionName";
import { useControl } from "@/shared/remedies/control";
import { useChangeControl } from "./queries";

function StopDialog({ onClose }: { onClose: () => void }) {
  const change = useChangeControl();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title="Stop all remedies"
      submit="Stop all remedies"
      request={change}
      disabled={reason.trim() === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ kind: "stop", reason: reason.trim() }, { onSuccess: onClose });
      }}
    >
      <Text size="sm">
        From now on no remedy is applied, and remedies not yet sent to their host are cancelled. Remedies already
        running on a host continue. Undo and dry runs stay available. An administrator resumes remedies.
      </Text>
      <TextInput
        label="Reason"
        description="Shown to everyone whose request is refused"
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** The emergency stop, how much is under way, and what has failed too often. */
export function ControlPanel() {
  const control = useControl();
  const change = useChangeControl();
  const { time } = useTimeFormat();
  const [stopping, setStopping] = useState(false);
  return (
    <Panel
      title="Control"
      actions={
        control.data && !control.data.stop ? (
          <Button size="compact-xs" variant="default" onClick={() => setStopping(true)}>
            Stop all remedies
          </Button>
        ) : null
      }
    >
      <QueryState query={control} lines={2}>
        {({ stop, busy, breakers, awaiting_approval }) => (
          <Stack gap={6}>
            {change.isError && <ProblemNotice error={change.error} />}
            {stop ? (
              <Group gap={10} role="alert">
                <StatusMark tone="bad">Stopped</StatusMark>
                <Text size="sm">
                  {stop.by} stopped all remedies, {time(stop.at)}: {stop.reason}
                </Text>
                <ConfirmButton
                  label="Resume remedies"
                  question="Remedies enabled again from now on. Cancelled remedies are not sent."
                  confirm="Resume remedies"
                  loading={change.isPending}
                  onConfirm={() => change.mutate({ kind: "resume" })}
                />
              </Group>
            ) : (
              <StatusMark tone="good">Remedies enabled</StatusMark>
            )}
            <Text size="sm">
              Running on {busy.hosts} of at most {busy.most_hosts} hosts at a time, in {busy.racks} of at most{" "}
              {busy.most_racks} racks; {busy.fleet} hosts have an agent. {awaiting_approval} pending approval.
            </Text>
            {breakers
              .filter((breaker) => breaker.open)
              .map((breaker) => (
                <Group key={breaker.action} gap={10}>
                  <StatusMark tone="bad">Breaker open</StatusMark>
                  <Text size="sm">
                    <ActionName action={breaker.action} />: {breaker.failed} of {breaker.finished} failed recently.
                  </Text>
                  <ConfirmButton
                    label="Reset breaker"
                    question="Have you checked why it failed? The action is applied again until it fails as often once more."
                    confirm="Reset breaker"
                    loading={change.isPending}
                    onConfirm={() => change.mutate({ kind: "reset", action: breaker.action })}
                  />
                </Group>
              ))}
          </Stack>
        )}
      </QueryState>
      {stopping && <StopDialog onClose={() => setStopping(false)} />}
    </Panel>
  );
}
