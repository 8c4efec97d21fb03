import { Button, Grid, Group, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { PredictionRequest } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { CoursePanel } from "../course/CoursePanel";
import { FunctionsHeader } from "../FunctionsHeader";
import { HowToStart } from "../HowToStart";
import { Note } from "../Note";
import { useNfCards, useNfModels, usePrediction } from "../queries";
import {
  DEFAULT_CORES,
  freeName,
  type FunctionsSearch,
  modelsFor,
  parsePlanned,
  type Planned,
  plannedOfCard,
  plannedText,
  loadsOf,
  requestOf,
  unpredicted,
} from "../scenario";
import { AddPanel } from "./AddPanel";
import { CardChooser } from "./CardChooser";
import { MeasuredCards } from "./MeasuredCards";
import { ResidentsTable } from "./ResidentsTable";
import { ThroughputLegend } from "./ThroughputBar";
import { WhatIfPanel } from "./WhatIfPanel";

const SETTLE_MS = 150;

/** The question once its reader has stopped moving a slider; compared by content, because each render makes a new one. */
function useSettled(asked: PredictionRequest | null): PredictionRequest | null {
  const [text] = useDebouncedValue(JSON.stringify(asked), SETTLE_MS);
  return useMemo(() => JSON.parse(text) as PredictionRequest | null, [text]);
}

interface Props {
  search: FunctionsSearch;
  onSearch: (search: FunctionsSearch) => void;
}

/** The functions of one card: what each gets, why, what if its traffic changes, and whether one more fits. */
export function FunctionsPage({ search, onSearch }: Props) {
  const models = useNfModels();
  const cards = useNfCards();
  const card = cards.data?.find((each) => each.host === search.host && each.pci === search.pci);
  const all = models.data ?? [];
  const model = search.model ?? card?.model ?? all.find((each) => each.active !== null)?.nic_model ?? "BF-2";
  const fw = search.fw ?? card?.fw_ver ?? "";
  const cores = search.cores ?? DEFAULT_CORES;
  const usable = modelsFor(all, model, fw);
  const known = new Set(usable.map((each) => each.function));
  const left = card ? unpredicted(card, known) : [];
  const planned =
    card && search.on === undefined
      ? plannedOfCard(card, known)
      : parsePlanned(search.on).filter((each) => known.has(each.function));
  const loads = card ? loadsOf(card, known) : [];
  const [candidate] = parsePlanned(search.add).filter((each) => known.has(each.function));
  const asked =
    usable.length > 0 ? requestOf({ model, fw, cores }, planned, candidate ?? null, card?.functions, loads) : null;
  const request = useSettled(asked);
  const prediction = usePrediction(request);
  const shown = planned.find((each) => each.name === search.show) ?? planned[0];

  const plan = (next: readonly Planned[], more: Partial<FunctionsSearch> = {}) =>
    onSearch({ ...search, ...more, on: plannedText(next) ?? "-" });
  const change = (changed: Planned) => plan(planned.map((each) => (each.name === changed.name ? changed : each)));
  const add = () => {
    if (!candidate) return;
    const name = freeName(candidate.name, planned);
    plan([...planned, { ...candidate, name }], { add: undefined, show: name });
  };

  return (
    <Stack gap={12}>
      <FunctionsHeader>
        What network functions on one SmartNIC get next to each other: they share its memory and its accelerators.
        Change their traffic, or try whether one more fits; the address of this page keeps the plan.
      </FunctionsHeader>
      <QueryState
        query={models}
        lines={8}
        isEmpty={(items) => !items.some((item) => item.active !== null)}
        empty={
          <Panel title="No model is active">
            <HowToStart title="No function has an active model yet" />
          </Panel>
        }
      >
        {(items) => (
          <Stack gap={12}>
            <CardChooser
              search={search}
              model={model}
              firmware={fw}
              cores={cores}
              cards={cards.data ?? []}
              models={items.filter((item) => item.active !== null)}
              onSearch={onSearch}
            />
            {card && search.on !== undefined && (
              <Note title="A plan, not the measurement">
                <Group justify="space-between">
                  <span>The traffic or the functions of this card were changed here.</span>
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => onSearch({ host: card.host, pci: card.pci })}
                  >
                    Back to what is measured
                  </Button>
                </Group>
              </Note>
            )}
            <Panel
              title="On this card"
              flush={planned.length > 0}
              aside={
                prediction.data && (
                  <Text span size="xs" c={prediction.data.cores_used > cores ? "var(--ww-bad)" : "dimmed"}>
                    {`${prediction.data.cores_used} of ${plural(cores, "core")} used`}
                  </Text>
                )
              }
              actions={
                <ThroughputLegend
                  measured={Boolean(prediction.data?.functions.some((f) => f.measured_kpps !== null))}
                />
              }
            >
              {usable.length === 0 ? (
                <EmptyState title={`No active model for ${model}${fw ? `, firmware ${fw}` : ""}`}>
                  <Link to="/functions/models">Upload profiles</Link> that were measured on this card model, or promote
                  a version.
                </EmptyState>
              ) : planned.length === 0 ? (
                <EmptyState title="No function on this card yet">
                  Choose one below under “May I add a function here?” and add it to the plan.
                  {!card && (cards.data ?? []).length > 0 && <MeasuredCards cards={cards.data ?? []} />}
                </EmptyState>
              ) : (
                <QueryState query={prediction} lines={planned.length * 2}>
                  {({ functions }) => (
                    <ResidentsTable
                      label="On this card"
                      functions={functions}
                      shown={shown?.name}
                      onShow={(show) => onSearch({ ...search, show })}
                      onRemove={(name) => plan(planned.filter((each) => each.name !== name))}
                    />
                  )}
                </QueryState>
              )}
            </Panel>
            {card && search.on === undefined && <CoursePanel host={card.host} pci={card.pci} shown={shown?.name} />}
            {left.length > 0 && (
              <Note title={`${plural(left.length, "function")} not predicted`}>{left.join("; ")}.</Note>
            )}
            {usable.length > 0 && (
              <Grid gap={12}>
                {shown && (
                  <Grid.Col span={{ base: 12, md: 5 }}>
                    <WhatIfPanel
                      planned={shown}
                      found={prediction.data?.functions.find((each) => each.name === shown.name)}
                      models={usable}
                      onChange={change}
                    />
                  </Grid.Col>
                )}
                <Grid.Col span={{ base: 12, md: shown ? 7 : 12 }}>
                  <AddPanel
                    candidate={candidate ?? null}
                    models={usable}
                    admission={prediction.data?.admission}
                    onCandidate={(next) => onSearch({ ...search, add: next ? plannedText([next]) : undefined })}
                    onAdd={add}
                  />
                </Grid.Col>
              </Grid>
            )}
            {candidate && prediction.data?.admission && (
              <Panel title={`With ${candidate.function} added`} flush>
                <ResidentsTable label="With the added function" functions={prediction.data.admission.functions} />
              </Panel>
            )}
          </Stack>
        )}
      </QueryState>
    </Stack>
  );
}
