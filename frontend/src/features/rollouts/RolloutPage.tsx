import { Group, Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Rollout } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { RemedyStateMark } from "@/shared/remedies/RemedyStateMark";
import { isRemedyState } from "@/shared/remedies/states";
import { useRollout } from "./queries";
import { RolloutActions } from "./RolloutActions";
import { RolloutProgress } from "./RolloutProgress";
import { decisionText, ROLLOUT_STATES, waveText } from "./rolloutText";

const SHOWN = 100;

function Wave({ rollout, index }: { rollout: Rollout; index: number }) {
  const wave = rollout.waves[index] ?? [];
  // What went wrong comes first: that is what somebody opens this page for.
  const sorted = [...wave].sort((a, b) => rank(rollout, a) - rank(rollout, b));
  return (
    <Panel
      title={waveText(wave, index)}
      aside={rollout.wave === index && rollout.state === "running" ? <StatusMark tone="good">now</StatusMark> : null}
      flush
    >
      <HeadedTable label={waveText(wave, index)} titles={["State", "Target", "Result", "Remedy"]}>
        {sorted.slice(0, SHOWN).map((target) => (
          <Table.Tr key={`${target.host}|${target.pci ?? ""}`}>
            <Table.Td w={150}>
              {target.state !== null && isRemedyState(target.state) ? (
                <RemedyStateMark state={target.state} />
              ) : (
                <Text size="sm" c="dimmed">
                  not yet
                </Text>
              )}
            </Table.Td>
            <Table.Td w={260}>
              {target.pci === null ? (
                <Link to="/" search={{ host: target.host }}>
                  {target.host}
                </Link>
              ) : (
                <Link to="/rnics/$host/$pci" params={{ host: target.host, pci: target.pci }}>
                  {target.host} {target.pci}
                </Link>
              )}
            </Table.Td>
            <Table.Td>{hostSays(target)}</Table.Td>
            <Table.Td w={90}>
              {target.remedy_id !== null && (
                <Link
                  to="/remedies"
                  search={{ remedy: target.remedy_id }}
                  aria-label={`Remedy on ${target.host} ${target.pci ?? ""}`.trim()}
                >
                  Open
                </Link>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {wave.length > SHOWN && (
        <Text size="sm" c="dimmed" p={10}>
          and {(wave.length - SHOWN).toLocaleString("en")} more
        </Text>
      )}
    </Panel>
  );
}

const UNDO_ASKED = {
  queued: "Undo is waiting for the agent.",
  sent: "Undo was sent to the agent.",
  done: "",
  failed: "Undo failed",
  refused: "The agent refused the undo",
  expired: "The agent did not answer the undo.",
} as const;

function hostSays(target: Rollout["waves"][number][number]): string {
  if (target.undo_state === null || target.undo_state === "done") return target.message ?? "";
  const { [target.undo_state]: asked } = UNDO_ASKED;
  return target.undo_message ? `${asked}: ${target.undo_message}` : asked;
}

const UNDO_BAD = ["failed", "refused", "expired"];
const BAD = ["failed", "refused", "expired", "not_confirmed", "undone"];

function rank(rollout: Rollout, { state, undo_state }: Rollout["waves"][number][number]): number {
  if (state === null) return 3;
  if (undo_state !== null && UNDO_BAD.includes(undo_state) && state !== "undone") return 0;
  if (state === "undone" && rollout.undo !== null) return 2;
  return BAD.includes(state) ? 0 : 1;
}

/** One rollout: how far it is, every target with its remedy, and the way to hold or end it. */
export function RolloutPage({ id }: { id: string }) {
  const rollout = useRollout(id);
  const { time } = useTimeFormat();
  return (
    <Stack gap={12}>
      <QueryState query={rollout} lines={8}>
        {(data) => {
          const mark = ROLLOUT_STATES[data.state];
          return (
            <>
              <Group justify="space-between" align="flex-start">
                <Group gap="sm">
                  <Title order={1}>
                    Rollout: <ActionName action={data.action} />
                  </Title>
                  <span data-testid="rollout-state" data-state={data.state}>
                    <StatusMark tone={mark.tone}>{mark.label}</StatusMark>
                  </span>
                </Group>
                <RolloutActions rollout={data} size="sm" />
              </Group>
              <RolloutProgress rollout={data} />
              {data.message && data.message !== data.decision_comment && (
                <Text size="sm" role="status" fw={600}>
                  {data.state === "paused" || data.state === "rejected" ? "" : "Stopped: "}
                  {data.message}
                </Text>
              )}
              <Text size="sm">
                {data.incident_id !== null && (
                  <>
                    For{" "}
                    <Link to="/incidents/$id" params={{ id: data.incident_id }}>
                      incident
                    </Link>
                    :{" "}
                  </>
                )}
                {data.reason} · <ParamsLine action={data.action} params={data.params} />
              </Text>
              <Text size="sm" c="dimmed">
                Requested by {data.requested_by}, {time(data.created_at)}
                {data.decided_by ? ` · ${decisionText(data)}, ${time(data.decided_at)}` : ""}
                {data.not_before ? ` · not before ${time(data.not_before)}` : ""}
                {data.not_after ? ` · no new wave after ${time(data.not_after)}` : ""}
                {data.undo_on_stop ? " · rolls back automatically on failure" : ""}
              </Text>
              {data.waves.map((_, i) => (
                <Wave key={i} rollout={data} index={i} />
              ))}
            </>
          );
        }}
      </QueryState>
    </Stack>
  );
}
