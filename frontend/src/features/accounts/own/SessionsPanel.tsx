import { Table, Text } from "@mantine/core";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { type OwnSession, useEndSession, useSessions } from "./queries";

const TITLES = ["Since", "Last use", "From", "Expires", "End"];

function SessionRow({ session, onEnd }: { session: OwnSession; onEnd: () => void }) {
  const { time } = useTimeFormat();
  return (
    <Table.Tr>
      <Table.Td>{time(session.created_at)}</Table.Td>
      <Table.Td>{time(session.last_used_at)}</Table.Td>
      <Table.Td ff="monospace">{session.address ?? "unknown"}</Table.Td>
      <Table.Td>{time(session.expires_at)}</Table.Td>
      <Table.Td>
        {session.current ? (
          <Text size="sm" fw={600}>
            this session
          </Text>
        ) : (
          <ConfirmButton
            label="End"
            question={`End the session from ${session.address ?? "an unknown address"}? Whoever uses it has to sign in again.`}
            confirm="End session"
            onConfirm={onEnd}
          />
        )}
      </Table.Td>
    </Table.Tr>
  );
}

export function SessionsPanel() {
  const sessions = useSessions();
  const end = useEndSession();
  const others = sessions.data?.items.filter((session) => !session.current).length ?? 0;
  return (
    <Panel
      title="Sessions"
      flush
      actions={
        others > 0 && (
          <ConfirmButton
            label="End all others"
            question="End all sessions but this one? Whoever uses them has to sign in again."
            confirm="End them"
            loading={end.isPending}
            onConfirm={() => end.mutate(null)}
          />
        )
      }
    >
      {end.error !== null && (
        <div style={{ padding: 12 }}>
          <ProblemNotice error={end.error} />
        </div>
      )}
      <div style={{ padding: sessions.data && !sessions.error ? 0 : 12 }}>
        <QueryState query={sessions}>
          {({ items }) => (
            <HeadedTable label="Your sessions" titles={TITLES}>
              {items.map((session) => (
                <SessionRow key={session.id} session={session} onEnd={() => end.mutate(session.id)} />
              ))}
            </HeadedTable>
          )}
        </QueryState>
      </div>
    </Panel>
  );
}
