import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { PredictedFunction } from "@/lib/api/types";
import { formatHeadroom, formatShare } from "@/lib/format";
import { bandColor, bandOf } from "@/lib/headroom";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useNfCards, useNfModels, usePrediction } from "../queries";
import { DEFAULT_CORES, loadsOf, modelsFor, plannedOfCard, requestOf } from "../scenario";
import classes from "./ContentionPanel.module.css";

/** The bar's full width stands for this share of the limit, so that a broken SLA still has a length. */
const SCALE = 1.25;

/** Contention as another limit of a card: what each function loses of what it may lose. Nothing on a card without functions. */
export function ContentionPanel({ host, pci }: { host: string; pci: string }) {
  const models = useNfModels();
  const card = useNfCards().data?.find((each) => each.host === host && each.pci === pci);
  const usable = modelsFor(models.data ?? [], card?.model ?? "", card?.fw_ver ?? "");
  const known = new Set(usable.map((each) => each.function));
  const planned = card ? plannedOfCard(card, known) : [];
  const options = { model: card?.model ?? "", fw: card?.fw_ver ?? "", cores: DEFAULT_CORES };
  const prediction = usePrediction(
    card && planned.length > 0 ? requestOf(options, planned, null, card.functions, loadsOf(card, known)) : null,
  );
  if (!card) return null;
  return (
    <Panel
      title="Contention of functions"
      aside={
        <Text span size="xs" c="dimmed">
          <Link to="/functions" search={{ host, pci }}>
            what takes it, and what if
          </Link>
        </Text>
      }
    >
      {planned.length === 0 ? (
        <Text size="sm" c="dimmed">
          Functions run here, but none has an active model for this card.{" "}
          <Link to="/functions/models">Upload profiles</Link> to predict what they take from each other.
        </Text>
      ) : (
        <QueryState query={prediction} lines={planned.length}>
          {({ functions }) => (
            <ul className={classes["list"]} aria-label="Contention of functions">
              {functions.map((found) => (
                <Row key={found.name} found={found} />
              ))}
            </ul>
          )}
        </QueryState>
      )}
    </Panel>
  );
}

function Row({ found }: { found: PredictedFunction }) {
  const { sla_drop: most, sla_value: drop, headroom } = found;
  const said = most === null ? "no SLA" : `−${formatShare(drop)} of at most −${formatShare(most)}`;
  return (
    <li className={classes["row"]} data-function={found.name}>
      <Text size="sm">{found.name}</Text>
      <div
        className={classes["track"]}
        role="img"
        aria-label={`${found.name}: ${said}, ${most === null ? "nothing promised" : formatHeadroom(headroom)}`}
      >
        {most !== null && (
          <>
            <div
              className={classes["bar"]}
              style={{
                width: `${Math.min(100, (100 * drop) / most / SCALE)}%`,
                background: bandColor(bandOf(headroom)),
              }}
            />
            <div className={classes["limit"]} style={{ left: `${100 / SCALE}%` }} />
          </>
        )}
      </div>
      <Text size="sm" ta="right">
        {said}
      </Text>
      <Text size="xs" c="dimmed">
        {most === null ? "–" : formatHeadroom(headroom)}
      </Text>
    </li>
  );
}
