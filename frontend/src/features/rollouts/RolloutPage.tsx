import { Group, Stack, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Rollout } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { endedWithoutSuccess, outcomeOf, sentenceOf, type StateTable } from "@/lib/states";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { StateMark } from "@/lib/ui/StateMark";
import { useRollout } from "./queries";
import { RolloutActions } from "./RolloutActions";
import { RolloutProgress } from "./RolloutProgress";
import { decisionText, messageText, waveText } from "./rolloutText";

const SHOWN = 100;

type Target = Rollout["waves"][number][number];

function Wave({ rollout, index }: { rollout: Rollout; index: number }) {
  const wave = rollout.waves[index] ?? [];
  const remedies = useStates("remedy");
  const commands = useStates("command");
  const rank = (target: Target) => rankOf(target, rollout.undo !== null, remedies, commands);
  // What went wrong comes first: that is what somebody opens this page for.
  const sorted = [...wave].sort((a, b) => rank(a) - rank(b));
  const title = waveText(remedies, wave, index);
  return (
    <Panel
      title={title}
      aside={rollout.wave === index && rollout.state === "running" ? <StatusMark tone="good">now</StatusMark> : null}
      flush
    >
      <HeadedTable label={title} titles={["State", "Target", "Result", "Remedy"]}>
        {sorted.slice(0, SHOWN).map((target) => (
          <Table.Tr key={`${target.host}|${target.pci ?? ""}`}>
            <Table.Td w={150}>
              {target.state !== null ? (
                <StateMark machine="remedy" state={target.state} />
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
            <Table.Td>{resultText(target, commands)}</Table.Td>
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

/** What the host answered: to the newest undo while that is not done, else to the remedy. */
function resultText({ message, undo_state, undo_message }: Target, commands: StateTable): string {
  if (undo_state === null || outcomeOf(commands, undo_state) === "good") return message ?? "";
  const text = sentenceOf(commands, undo_state, "The undo");
  return undo_message ? `${text} ${undo_message}` : text;
}

/** 0 for what failed, 3 for what has not started. */
function rankOf(
  { state, undo_state }: Target,
  isRolledBack: boolean,
  remedies: StateTable,
  commands: StateTable,
): 0 | 1 | 2 | 3 {
  if (state === null) return 3;
  if (state === "undone" && isRolledBack) return 2;
  const undoFailed = undo_state !== null && endedWithoutSuccess(commands, undo_state);
  return undoFailed || endedWithoutSuccess(remedies, state) ? 0 : 1;
}

/** One rollout: how far it is, every target with its remedy, and the way to hold or end it. */
export function RolloutPage({ id }: { id: string }) {
  const rollout = useRollout(id);
  const { time } = useTimeFormat();
  return (
    <Stack gap={12}>
      <QueryState query={rollout} lines={8}>
        {(data) => {
          const message = messageText(data);
          return (
            <>
              <Group justify="space-between" align="flex-start">
                <Group gap="sm">
                  <Title order={1}>
                    Rollout: <ActionName action={data.action} />
                  </Title>
                  <span data-testid="rollout-state" data-state={data.state}>
                    <StateMark machine="rollout" state={data.state} />
                  </span>
                </Group>
                <RolloutActions rollout={data} size="sm" />
              </Group>
              <RolloutProgress rollout={data} />
              {message !== null && (
                <Text size="sm" role="status" fw={600}>
                  {message}
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
