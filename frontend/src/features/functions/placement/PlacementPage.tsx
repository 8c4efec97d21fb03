import { Button, Checkbox, FileButton, Grid, Group, NumberInput, Select, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { NfCard, NfModel } from "@/lib/api/types";
import { distinct } from "@/lib/distinct";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { FunctionsHeader } from "../FunctionsHeader";
import { HowToStart } from "../HowToStart";
import { useNfCards, useNfModels, usePlacement } from "../queries";
import { DEFAULT_CORES } from "../scenario";
import { HEADER, InputProblem, linesOfCards, parseCards, parseFunctions } from "./input";
import { PlanPanel } from "./PlanPanel";

const METHODS = [
  { value: "optimum", label: "Fewest cards for the whole batch" },
  { value: "fullest", label: "One by one, fullest card first" },
  { value: "greedy", label: "One by one, most free cores (ignores SLAs)" },
  { value: "monopolise", label: "A card for each function" },
] as const;

type Method = (typeof METHODS)[number]["value"];

/** A batch of functions in, an assignment to cards out: next to where they run now, and to take along. */
export function PlacementPage() {
  const models = useNfModels();
  const cards = useNfCards();
  return (
    <Stack gap={12}>
      <FunctionsHeader>
        Assign a batch of functions to cards so that none loses more than its SLA allows. Nothing is moved: take the
        result along as JSON, or as node affinity for Kubernetes.
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
        {(items) => <PlacementForm models={items.filter((item) => item.active !== null)} cards={cards.data ?? []} />}
      </QueryState>
    </Stack>
  );
}

function example(models: readonly NfModel[]): string {
  const names = distinct(models.map((model) => model.function)).slice(0, 3);
  return [HEADER, ...names.map((name) => `${name}, ${name}, 8000, 1518, 0, 4, 0.1,`)].join("\n");
}

function PlacementForm({ models, cards }: { models: readonly NfModel[]; cards: readonly NfCard[] }) {
  const [functions, setFunctions] = useState(() => example(models));
  const [names, setNames] = useState(() => Array.from({ length: 12 }, (_, at) => `node${at + 1}/bf2`).join("\n"));
  const [model, setModel] = useState(models[0]?.nic_model ?? "BF-2");
  const [cores, setCores] = useState<number | string>(DEFAULT_CORES);
  const [method, setMethod] = useState<Method>("optimum");
  const [margin, setMargin] = useState<number | string>(0.5);
  const [cautious, setCautious] = useState(false);
  const [refused, setRefused] = useState<string>();
  const placement = usePlacement();

  const place = () => {
    setRefused(undefined);
    try {
      placement.mutate({
        nic_model: model,
        firmware: "",
        functions: parseFunctions(functions),
        cards: parseCards(names, Number(cores)),
        method,
        margin: Number(margin) / 100,
        cautious,
      });
    } catch (problem) {
      if (!(problem instanceof InputProblem)) throw problem;
      placement.reset();
      setRefused(problem.message);
    }
  };
  const take = () => {
    const lines = linesOfCards(cards);
    setFunctions(lines.functions);
    setNames(lines.cards);
  };
  const load = (file: File | null) => {
    file?.text().then(setFunctions, () => setRefused(`${file.name} cannot be read.`));
  };

  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Panel
          title="Batch"
          actions={
            <Group gap={6}>
              {cards.length > 0 && (
                <Button size="compact-sm" variant="default" onClick={take}>
                  Take what is measured
                </Button>
              )}
              <FileButton accept=".csv,text/csv,text/plain" onChange={load}>
                {(props) => (
                  <Button {...props} size="compact-sm" variant="default">
                    Load CSV…
                  </Button>
                )}
              </FileButton>
            </Group>
          }
        >
          <form
            onSubmit={(event) => {
              event.preventDefault();
              place();
            }}
          >
            <Stack gap={10}>
              <Textarea
                data-focus-filter
                label="Functions"
                description="One per line, in the order of the first line. Empty values: 1518 bytes, no matches, one instance, the function’s own SLA, no present card."
                autosize
                minRows={5}
                maxRows={16}
                styles={{ input: { fontFamily: "var(--ww-mono)", fontSize: "0.75rem" } }}
                value={functions}
                onChange={(event) => setFunctions(event.currentTarget.value)}
                error={refused}
              />
              <Textarea
                label="Cards"
                description="One per line; after a comma the Kubernetes node, where it is not the first part of the name"
                autosize
                minRows={3}
                maxRows={10}
                styles={{ input: { fontFamily: "var(--ww-mono)", fontSize: "0.75rem" } }}
                value={names}
                onChange={(event) => setNames(event.currentTarget.value)}
              />
              <Group grow gap={8}>
                <Select
                  label="Card model"
                  allowDeselect={false}
                  value={model}
                  onChange={(value) => value && setModel(value)}
                  data={distinct(models.map((each) => each.nic_model))}
                />
                <NumberInput label="Cores of each card" min={1} max={64} value={cores} onChange={setCores} />
              </Group>
              <Select
                label="Method"
                allowDeselect={false}
                value={method}
                onChange={(value) => setMethod(value as Method)}
                data={METHODS.map((each) => ({ ...each }))}
              />
              <NumberInput
                label="Margin below the SLA"
                description="Predictions err: a larger margin breaks fewer SLAs and needs more cards"
                suffix="%"
                min={0}
                max={50}
                step={0.5}
                value={margin}
                onChange={setMargin}
              />
              <Checkbox
                label="Judge by the lower end of the 90% interval"
                checked={cautious}
                onChange={(event) => setCautious(event.currentTarget.checked)}
              />
              <Group justify="flex-end">
                <Button type="submit" loading={placement.isPending}>
                  Place
                </Button>
              </Group>
            </Stack>
          </form>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <div role="status" aria-label="Assignment" aria-busy={placement.isPending}>
          {placement.error ? (
            <ProblemNotice error={placement.error} onRetry={place} />
          ) : placement.data ? (
            <PlanPanel plan={placement.data} />
          ) : (
            <Panel title="Assignment">
              <EmptyState title="Nothing placed yet">
                <Text size="sm">
                  Describe the batch and the cards, then press Place. With a card for each function’s present place, the
                  result is compared with it.
                </Text>
              </EmptyState>
            </Panel>
          )}
        </div>
      </Grid.Col>
    </Grid>
  );
}
