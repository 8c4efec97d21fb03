import { Button, Grid, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Policy } from "@/lib/api/types";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { Meaning } from "../automaton/MeaningPanel";
import { BacktestPanel } from "../BacktestPanel";
import { SUBJECTS } from "../filters";
import { useChangePolicy, useCheck, useDelivery, useRun, useVocabulary } from "../queries";
import { type Steps, within } from "./bench";
import { BindingRows } from "./BindingRows";
import { NAME, TimerFields, WordFields } from "./DefinitionFields";
import { bindingsOf, definitionOf, type Draft, rebound, rowsOf } from "./draft";
import { FormulaField } from "./FormulaField";
import { TraceBench } from "./TraceBench";

const TYPING_MS = 250;

interface Props {
  /** The policy that is changed; null for a new one. */
  policy: Policy | null;
  initial: Draft;
}

/** A policy is written and tried out here; nothing runs it before it is enabled. */
export function PolicyEditor({ policy, initial }: Props) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(initial);
  const [steps, setSteps] = useState<Steps>([]);
  const [chosen, setChosen] = useState(-1);
  // The version that is edited is the one that was read at first: what others save meanwhile must not be overwritten.
  const [read] = useState(policy?.version ?? 0);
  const [checked] = useDebouncedValue(bindingsOf(draft), TYPING_MS);
  const check = useCheck(checked);
  const vocabulary = useVocabulary();
  const delivery = useDelivery();
  const change = useChangePolicy();
  const isCurrent = !check.isPlaceholderData && JSON.stringify(checked) === JSON.stringify(bindingsOf(draft));
  const meaning = check.data;
  const problems = meaning?.problems ?? [];
  const ofTheTrace = within(steps, [...(meaning?.propositions ?? []), ...(meaning?.unused ?? [])]);
  const run = useRun(
    checked.formula,
    ofTheTrace,
    meaning?.automaton !== undefined && steps.length > 0 && isCurrent && meaning.states !== null,
  );
  const shown = run.data && steps.length > 0 ? Math.min(chosen, steps.length - 1) : -1;
  const update = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const takeSteps = (next: Steps) => {
    setSteps(next);
    setChosen(next.length - 1);
  };
  const complete =
    isCurrent &&
    problems.length === 0 &&
    draft.title.trim() !== "" &&
    draft.violation.trim() !== "" &&
    (policy !== null || NAME.test(draft.id));
  const definition = definitionOf(draft);
  const save = (andEnable: boolean) => {
    const order = policy
      ? ({ kind: "save", id: policy.id, definition, message: draft.message, version: read } as const)
      : ({ kind: "create", id: draft.id, definition } as const);
    const open = () => void navigate({ to: "/policies/$id", params: { id: order.id } });
    change.mutate(order, {
      onSuccess: (saved) => {
        // It is saved in any case; on its page it can be enabled again.
        if (andEnable && "version" in saved)
          change.mutate({ kind: "enable", id: order.id, version: saved.version as number }, { onSettled: open });
        else open();
      },
    });
  };
  return (
    <Stack gap={12}>
      <Group justify="space-between">
        <Title order={1}>{policy ? `Edit ${policy.title}` : "New policy"}</Title>
        <Group gap={8}>
          <Button variant="subtle" component={Link} to={policy ? `/policies/${policy.id}` : "/policies"}>
            Cancel
          </Button>
          <Button variant="default" disabled={!complete} loading={change.isPending} onClick={() => save(false)}>
            Save draft
          </Button>
          {complete && (
            <ConfirmButton
              label="Save and enable…"
              question={`It is compiled and sent to ${delivery.data?.takes ?? "all"} agents now. Past results keep the version that produced them.`}
              confirm="Enable"
              loading={change.isPending}
              onConfirm={() => save(true)}
            />
          )}
        </Group>
      </Group>
      {change.isError && <ProblemNotice error={change.error} />}
      <Grid gap={12}>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Stack gap={12}>
            <Panel title="The policy">
              <Stack gap={12}>
                <Select
                  label="Applies to"
                  w={260}
                  allowDeselect={false}
                  value={draft.subject}
                  description={vocabulary.data?.subjects[draft.subject]}
                  data={SUBJECTS.map((subject) => ({
                    value: subject,
                    label: (vocabulary.data?.subjects[subject] ?? subject).split(":")[0] ?? subject,
                  }))}
                  onChange={(value) =>
                    update({
                      subject: (value ?? "rnic") as Draft["subject"],
                      propositions: rebound(
                        draft.propositions,
                        vocabulary.data?.kinds ?? [],
                        (value ?? "rnic") as Draft["subject"],
                      ),
                    })
                  }
                />
                <FormulaField
                  value={draft.formula}
                  problems={isCurrent ? problems : []}
                  onChange={(formula) => update({ formula })}
                />
                {check.isError && <ProblemNotice error={check.error} onRetry={() => void check.refetch()} />}
                <QueryState query={vocabulary} lines={3}>
                  {({ kinds }) => (
                    <BindingRows
                      rows={rowsOf(draft, meaning?.propositions ?? [])}
                      draft={draft}
                      kinds={kinds}
                      problems={problems}
                      onChange={(propositions) => update({ propositions })}
                    />
                  )}
                </QueryState>
                <TimerFields
                  timer={draft.timer}
                  names={rowsOf(draft, meaning?.propositions ?? [])}
                  onChange={(timer) => update({ timer })}
                />
                {problems
                  .filter(
                    ({ kind, proposition }) =>
                      kind === "binding" && (!proposition || proposition === draft.timer?.name),
                  )
                  .map(({ message }) => (
                    <Text key={message} size="sm" style={{ color: "var(--ww-bad)" }}>
                      {message}
                    </Text>
                  ))}
                <WordFields draft={draft} isNew={policy === null} onChange={update} />
              </Stack>
            </Panel>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Stack gap={12}>
            <Panel title="Meaning">
              <QueryState query={check} lines={6}>
                {(data) => (
                  <Meaning
                    check={data}
                    current={shown >= 0 ? (run.data?.states[shown + 1] ?? null) : null}
                    previous={shown >= 0 ? (run.data?.states[shown] ?? null) : null}
                  />
                )}
              </QueryState>
            </Panel>
            {meaning?.states !== null && meaning?.states !== undefined && (
              <Panel title="Trace bench">
                <TraceBench
                  check={meaning}
                  steps={ofTheTrace}
                  onSteps={takeSteps}
                  run={steps.length > 0 ? run.data : undefined}
                  chosen={shown}
                  onChoose={setChosen}
                />
                {run.isError && <ProblemNotice error={run.error} />}
              </Panel>
            )}
            <BacktestPanel
              what={{ definition: bindingsOf(draft) }}
              automaton={meaning?.automaton}
              disabled={!isCurrent || problems.length > 0}
            />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
