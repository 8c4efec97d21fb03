import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { FormDialog } from "@/lib/ui/FormDialog";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "./ActionName";
import { useChangeControl, useControl } from "./controlQueries";

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
      <Text size="sm">Nothing is applied from now on, and what has not left for its host is taken back. What a host has begun goes on. Undo and dry runs stay possible. An administrator ends the stop.</Text>
      <TextInput label="Reason" description="Shown to everyone whose order is refused" required data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
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
                <ConfirmButton label="End the stop" question="From now on remedies are applied again. Nothing that was taken back is sent." confirm="End the stop" loading={change.isPending} onConfirm={() => change.mutate({ kind: "resume" })} />
              </Group>
            ) : (
              <StatusMark tone="good">Remedies are applied</StatusMark>
            )}
            <Text size="sm">
              Under way on {busy.hosts} of at most {busy.most_hosts} hosts at once, in {busy.racks} of at most {busy.most_racks} racks; {busy.fleet} hosts have an agent. {awaiting_approval} waiting for approval.
            </Text>
            {breakers
              .filter((breaker) => breaker.open)
              .map((breaker) => (
                <Group key={breaker.action} gap={10}>
                  <StatusMark tone="bad">Held back</StatusMark>
                  <Text size="sm">
                    <ActionName action={breaker.action} />: {breaker.failed} of {breaker.finished} did not work lately.
                  </Text>
                  <ConfirmButton label="Count anew" question="Have you looked at why it failed? It is applied again until it has failed as often once more." confirm="Count anew" loading={change.isPending} onConfirm={() => change.mutate({ kind: "reset", action: breaker.action })} />
                </Group>
              ))}
          </Stack>
        )}
      </QueryState>
      {stopping && <StopDialog onClose={() => setStopping(false)} />}
    </Panel>
  );
}
