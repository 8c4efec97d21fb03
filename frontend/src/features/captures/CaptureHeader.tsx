import { Button, Group, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { CaptureDetail } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useMayChange } from "@/shared/session";
import { AttachDialog } from "./AttachDialog";
import { formatBytes, verdictOf } from "./captureText";
import { useDeleteCapture } from "./queries";

interface Props {
  capture: CaptureDetail;
  incident: string | undefined;
  onDeleted: () => void;
}

/** Name, verdict, and what may be done with a capture. */
export function CaptureHeader({ capture, incident, onDeleted }: Props) {
  const mayChange = useMayChange();
  const time = useTimeFormat();
  const remove = useDeleteCapture(capture.id);
  const [attaching, { open, close }] = useDisclosure(false);
  const verdict = verdictOf(capture);
  return (
    <div>
      <Text size="sm" c="dimmed">
        <Link to="/captures">Captures</Link>
      </Text>
      <Group justify="space-between" align="flex-end">
        <div style={{ minWidth: 0 }}>
          <Group gap={12} align="baseline">
            <Title order={1} style={{ overflowWrap: "anywhere" }}>
              {capture.name}
            </Title>
            <StatusMark tone={verdict.tone}>{verdict.text}</StatusMark>
          </Group>
          <Text size="sm" c="dimmed">
            {formatBytes(capture.size_bytes)}, uploaded {time.time(capture.created_at)} by {capture.uploaded_by}; kept
            until {time.time(capture.expires_at)}
          </Text>
        </div>
        <Group gap={8}>
          {capture.analysis && (
            <Button
              variant="default"
              component="a"
              href={`/api/v1/captures/${capture.id}/analysis`}
              download={`${capture.name}.json`}
            >
              Export JSON
            </Button>
          )}
          {mayChange && capture.analysis && <Button onClick={open}>Attach to an incident</Button>}
          {mayChange && (
            <ConfirmButton
              label="Delete"
              question="The analysis is deleted for everyone."
              confirm="Delete"
              loading={remove.isPending}
              onConfirm={() => remove.mutate(undefined, { onSuccess: onDeleted })}
            />
          )}
        </Group>
      </Group>
      {remove.error !== null && <ProblemNotice error={remove.error} />}
      {attaching && <AttachDialog id={capture.id} incident={incident} onClose={close} />}
    </div>
  );
}
