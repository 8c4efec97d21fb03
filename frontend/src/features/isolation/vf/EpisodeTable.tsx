import { Button, Group, Table, Text } from "@mantine/core";
import { useState } from "react";
import { formatShare } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { MechanismName } from "../MechanismName";
import { secondsText } from "../text";
import { useWords } from "../useWords";
import { VfLink } from "../VfLink";
import type { Episode } from "./episodes";
import classes from "./EpisodeTable.module.css";

/** The newest; the others on request, so that the pods below stay in sight. */
const PAGE = 10;

interface Place {
  host: string;
  pci: string;
}

/** What an aggressor takes as a bar, its fair share as a tick; the full width is all that the RNIC can carry. */
function ShareBar({ share, fair }: { share: number; fair: number | null }) {
  const percent = (value: number) => `${Math.min(100, value * 100)}%`;
  return (
    <div
      className={classes["share"]}
      role="img"
      aria-label={`takes ${formatShare(share)} of what the RNIC can carry, fair share ${formatShare(fair)}`}
    >
      <div className={classes["taken"]} style={{ width: percent(share) }} />
      {fair !== null && <div className={classes["fair"]} style={{ left: percent(fair) }} />}
    </div>
  );
}

function Aggressors({ episode, host, pci }: { episode: Episode } & Place) {
  if (episode.aggressors.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        undetermined
      </Text>
    );
  return (
    <ul className={classes["shares"]}>
      {episode.aggressors.map(({ vf, pod, share, fair_share }) => (
        <li key={vf}>
          <VfLink {...{ host, pci, vf, pod }} />
          {share !== null && (
            <Group gap={8} wrap="nowrap">
              <ShareBar share={share} fair={fair_share} />
              <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                {formatShare(share)}, fair {formatShare(fair_share)}
              </Text>
            </Group>
          )}
        </li>
      ))}
    </ul>
  );
}

function Victims({ episode, host, pci }: { episode: Episode } & Place) {
  return (
    <ul className={classes["shares"]}>
      {episode.victims.map(({ vf, pod, reason }) => (
        <li key={vf} title={reason}>
          <VfLink {...{ host, pci, vf, pod }} />
        </li>
      ))}
    </ul>
  );
}

/** Each time the VF suffered or made others suffer: when, how, who did it to whom. */
export function EpisodeTable({ episodes, host, pci }: { episodes: readonly Episode[] } & Place) {
  const { time, clock } = useTimeFormat();
  const words = useWords();
  const [shown, setShown] = useState(PAGE);
  return (
    <>
      <HeadedTable
        label="Broken promises"
        titles={["When", "Broken", "This VF is", "Mechanism", "Aggressors", "Victims", "Why"]}
      >
        {episodes.slice(0, shown).map((episode) => (
          <Table.Tr key={episode.key} data-episode={episode.key}>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {time(episode.fromMs)}
              <Text size="xs" c="dimmed">
                to {clock(episode.toMs)}
              </Text>
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>
              {secondsText(episode.brokenS)}
              {episode.estimated && (
                <Text size="xs" c="dimmed" title="Samples more than 1.5 s apart: the whole interval counts">
                  estimated
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <StatusMark tone={episode.role === "victim" ? "bad" : "warn"}>
                {words.role(episode.role).label}
              </StatusMark>
            </Table.Td>
            <Table.Td>
              <MechanismName mechanism={episode.mechanism} />
            </Table.Td>
            <Table.Td>
              <Aggressors episode={episode} host={host} pci={pci} />
            </Table.Td>
            <Table.Td>
              <Victims episode={episode} host={host} pci={pci} />
            </Table.Td>
            <Table.Td maw={320}>
              <Text size="sm">{episode.reason}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      {episodes.length > shown && (
        <Group justify="center" p={8}>
          <Button variant="default" onClick={() => setShown(episodes.length)}>
            Show all {episodes.length}
          </Button>
        </Group>
      )}
    </>
  );
}
