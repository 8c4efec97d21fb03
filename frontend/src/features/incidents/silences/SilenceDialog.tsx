import { Button, Group, SegmentedControl, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Matcher, Silence } from "@/lib/api/types";
import { fromField, toField } from "@/lib/time/fields";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useZone } from "@/lib/time/ZoneContext";
import { FormDialog } from "@/lib/ui/FormDialog";
import { MatcherRows } from "@/shared/matchers/MatcherRows";
import { NAMES } from "@/shared/matchers/matchers";
import { PreviewNote } from "./PreviewNote";
import { useChangeSilence } from "./queries";

const LENGTHS: readonly { label: string; hours: number }[] = [
  { label: "1 h", hours: 1 },
  { label: "4 h", hours: 4 },
  { label: "12 h", hours: 12 },
  { label: "1 day", hours: 24 },
  { label: "1 week", hours: 168 },
];

const HOUR_MS = 3_600_000;
/** A field has no seconds, so a whole minute is begun. */
const MINUTE_MS = 60_000;

interface Props {
  /** Initial values; with an existing silence, that one is edited. */
  initial?: Partial<Pick<Silence, "id" | "kind" | "matchers" | "starts_at" | "ends_at" | "reason">>;
  onClose: () => void;
}

const DEFAULT_HOURS = 4;

/** A silence or a maintenance window: what, from when to when, why, and what it matches now. */
export function SilenceDialog({ initial = {}, onClose }: Props) {
  const { zone } = useZone();
  const now = useNow();
  const change = useChangeSilence();
  const [opened] = useState(() => Date.now());
  const [kind, setKind] = useState<Silence["kind"]>(initial.kind ?? "silence");
  const [matchers, setMatchers] = useState<Matcher[]>(
    initial.matchers?.length ? initial.matchers : [{ name: "host", op: "=", value: "" }],
  );
  const [starts, setStarts] = useState(() => (initial.starts_at ? toField(Date.parse(initial.starts_at), zone) : ""));
  const [ends, setEnds] = useState(() =>
    toField(initial.ends_at ? Date.parse(initial.ends_at) : opened + DEFAULT_HOURS * HOUR_MS + MINUTE_MS, zone),
  );
  const [reason, setReason] = useState(initial.reason ?? "");
  const from = starts === "" ? now : fromField(starts, zone);
  const to = fromField(ends, zone);
  const problem =
    from === null
      ? "Invalid start time"
      : to === null
        ? "End time is required"
        : to <= Math.max(from, initial.id ? 0 : now)
          ? "End must be after start and in the future"
          : null;
  const complete = problem === null && matchers.every((matcher) => matcher.value !== "") && reason.trim() !== "";
  const zoneName = zone === "utc" ? "UTC" : "local time";

  const submit = () => {
    if (!complete || from === null || to === null) return;
    const times = { ends_at: new Date(to).toISOString(), reason: reason.trim(), matchers };
    const order = initial.id
      ? ({ kind: "change", id: initial.id, body: { ...times, starts_at: new Date(from).toISOString() } } as const)
      : ({
          kind: "create",
          body: { ...times, kind, starts_at: starts === "" ? null : new Date(from).toISOString() },
        } as const);
    change.mutate(order, { onSuccess: onClose });
  };

  return (
    <FormDialog
      title={initial.id ? "Edit silence" : kind === "maintenance" ? "Plan maintenance" : "Silence incidents"}
      submit={initial.id ? "Save" : kind === "maintenance" ? "Plan maintenance" : "Silence"}
      request={change}
      disabled={!complete}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {!initial.id && (
        <SegmentedControl
          aria-label="Kind"
          value={kind}
          onChange={(value) => setKind(value as Silence["kind"])}
          data={[
            { value: "silence", label: "Silence" },
            { value: "maintenance", label: "Maintenance window" },
          ]}
        />
      )}
      <MatcherRows labels={NAMES} matchers={matchers} onChange={setMatchers} />
      <PreviewNote matchers={matchers} />
      <Group gap={10} align="flex-start" grow>
        <TextInput
          type="datetime-local"
          label={`Starts (${zoneName})`}
          description="Empty: now"
          value={starts}
          onChange={(event) => setStarts(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={`Ends (${zoneName})`}
          description={
            from !== null && to !== null && to > from
              ? `lasts ${formatDuration(to - (starts === "" ? opened : from))}`
              : "after its start"
          }
          required
          error={ends !== "" && problem ? problem : undefined}
          value={ends}
          onChange={(event) => setEnds(event.currentTarget.value)}
        />
      </Group>
      <Group gap={6} role="group" aria-label="Duration">
        <Text size="sm" c="dimmed">
          Duration
        </Text>
        {LENGTHS.map(({ label, hours }) => (
          <Button
            key={label}
            size="compact-xs"
            variant="default"
            onClick={() => setEnds(toField((from ?? now) + hours * HOUR_MS, zone))}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Textarea
        label="Reason"
        required
        description="Visible to everyone, and recorded in the audit log"
        autosize
        minRows={2}
        maxRows={6}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
