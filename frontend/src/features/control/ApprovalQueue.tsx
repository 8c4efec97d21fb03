import { Button, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { useRemedyPages } from "@/shared/remedies/queries";
import { RemedyPlace } from "@/shared/remedies/RemedyPlace";

/** Remedies that wait for a second person: who requests what, where and why. The oldest is last, as it expires first. */
export function ApprovalQueue({ onOpen }: { onOpen: (id: string) => void }) {
  const proposals = useRemedyPages({ state: "pending" });
  const { time } = useTimeFormat();
  return (
    <ListPanel
      title="Pending approval"
      pages={proposals}
      empty={
        <EmptyState title="Nothing to approve">
          High-risk actions need a second approver before they reach a host.
        </EmptyState>
      }
      moreLabel="Show more"
    >
      {(items) => (
        <HeadedTable
          label="Pending approval"
          titles={["Requested by", "Action", "Target", "Reason", "Requested", "Decision"]}
        >
          {items.map((remedy) => (
            <Table.Tr key={remedy.id}>
              <Table.Td>{remedy.requested_by}</Table.Td>
              <Table.Td>
                <Text size="sm" fw={600}>
                  <ActionName action={remedy.action} />
                </Text>
                <ParamsLine action={remedy.action} params={remedy.params} />
              </Table.Td>
              <Table.Td>
                <RemedyPlace remedy={remedy} />
              </Table.Td>
              <Table.Td>
                {remedy.incident_id !== null ? (
                  <Link to="/incidents/$id" params={{ id: remedy.incident_id }}>
                    incident
                  </Link>
                ) : remedy.rollout_id !== null ? (
                  <Link to="/rollouts/$id" params={{ id: remedy.rollout_id }}>
                    rollout
                  </Link>
                ) : (
                  "no incident"
                )}
              </Table.Td>
              <Table.Td>{time(remedy.created_at)}</Table.Td>
              <Table.Td>
                <Button
                  size="compact-xs"
                  onClick={() => onOpen(remedy.id)}
                  aria-label={`Review ${remedy.action} on ${remedy.host}`}
                >
                  Review
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      )}
    </ListPanel>
  );
}
