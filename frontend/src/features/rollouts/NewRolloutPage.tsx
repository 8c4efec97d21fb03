import { Button, Grid, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { fromField } from "@/lib/time/fields";
import type { Incident, RemedyAction } from "@/lib/api/types";
import { useFleet } from "@/lib/stream/useFleet";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat, useZone } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { filterRows, type FleetFilters, isFiltered } from "@/shared/fleet/filters";
import { FleetFilterBar } from "@/shared/fleet/FleetFilterBar";
import { useIncident } from "@/shared/incidents/queries";
import { useControl } from "@/shared/remedies/control";
import { ActionFacts } from "@/shared/remedies/order/ActionFacts";
import { ParamFields } from "@/shared/remedies/order/ParamFields";
import { askedOf, initialValues, isOfPlan, type ParamValues, toParams, validate } from "@/shared/remedies/order/params";
import { purposeOf } from "@/shared/remedies/order/purpose";
import { PurposeNote } from "@/shared/remedies/order/PurposeNote";
import { RemedyProgress } from "@/shared/remedies/order/RemedyProgress";
import { useDryRun } from "@/shared/remedies/order/useDryRun";
import { useActions } from "@/shared/remedies/queries";
import { useAgentHosts, useCreateRollout } from "./queries";
import type { RolloutSearch } from "./search";
import { TargetPicker } from "./TargetPicker";
import { candidates, chosen, MOST_TARGETS, placeOf } from "./targets";
import { DEFAULT_PACE, WaveFields, windowProblem } from "./WaveFields";
import { WhatWillHappen } from "./WhatWillHappen";

interface Props {
  search: RolloutSearch;
  onSearch: (search: RolloutSearch) => void;
  onStarted: (id: string) => void;
}

interface FormProps extends Props {
  actions: readonly RemedyAction[];
  /** For what it is; null when it is for no incident. */
  incident: Incident | null;
}

function NewRolloutForm({ actions, search, incident, onSearch, onStarted }: FormProps) {
  // A plan is of one RNIC; and each target's own address is filled in by the server.
  const offered = useMemo(
    () => actions.filter((each) => !isOfPlan(each)).map((each) => askedOf(each, ["pci"])),
    [actions],
  );
  const suggested = incident && offered.find((each) => purposeOf(each.action, [incident]));
  const action = offered.find((each) => each.action === search.action) ?? suggested ?? offered[0];
  const purpose = incident && action ? (purposeOf(action.action, [incident]) ?? { incident }) : null;
  const { query, state } = useFleet();
  const agents = useAgentHosts();
  const create = useCreateRollout();
  const control = useControl().data;
  const { zone } = useZone();
  const { clock } = useTimeFormat();
  const now = useNow();
  const [edited, setEdited] = useState<{ of: string; values: ParamValues } | null>(null);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [first, setFirst] = useState<string | null>(null);
  const [pace, setPace] = useState(() => ({
    ...DEFAULT_PACE,
    reason: incident ? `${incident.title} (${incident.subject})` : "",
  }));
  const filters = useMemo<FleetFilters>(
    () => Object.fromEntries(Object.entries(search).filter(([key]) => key !== "action" && key !== "incident")),
    [search],
  );
  // Taken once: who is reached must not change under the reader when a symptom comes or goes. "Refresh targets" does it.
  const [looked, setLooked] = useState(0);
  const { all, takenAt } = useMemo(
    () => ({
      all: isFiltered(filters)
        ? candidates(state.columns, filterRows(state.columns, filters), action?.scope ?? "host")
        : [],
      takenAt: Date.now(),
    }),
    [filters, action?.scope, looked, state.asOf === null], // eslint-disable-line react-hooks/exhaustive-deps
  );
  const reachable = useMemo(
    () => (agents.data ? all.filter((target) => agents.data.has(target.host)) : all),
    [all, agents.data],
  );
  const kept = useMemo(() => chosen(reachable, left, first), [reachable, left, first]);
  const values =
    edited && edited.of === action?.action
      ? edited.values
      : action
        ? initialValues(action, purpose?.suggestion?.params ?? {}, "")
        : {};
  const params = toParams(values);
  const dryRun = useDryRun(
    action && kept[0]
      ? {
          action: action.action,
          host: kept[0].host,
          pci: kept[0].pci,
          params,
          ...(incident ? { incident_id: incident.id } : {}),
        }
      : null,
  );
  const leave = useCallback(
    (place: string, out: boolean) =>
      setLeft((was) => new Set(out ? [...was, place] : [...was].filter((each) => each !== place))),
    [],
  );

  if (!action)
    return (
      <EmptyState title="No remedies available">The agents of this fleet report no actions; update them.</EmptyState>
    );
  const problem = windowProblem(pace, zone, now);
  const above = control?.approval_above_hosts ?? null;
  const proposes = action.needs_approval || (above !== null && kept.length > above);
  const ready = kept.length > 0 && kept.length <= MOST_TARGETS;
  const missing = !ready
    ? "Select targets."
    : !dryRun.planned
      ? "Run the dry run on the canary first; it shows the exact operations."
      : pace.reason.trim() === ""
        ? "A reason is required."
        : null;
  const check = () => {
    const found = validate(action, values);
    setErrors(found);
    if (Object.keys(found).length === 0) dryRun.start();
  };
  const iso = (field: string) => (field === "" ? null : new Date(fromField(field, zone) ?? 0).toISOString());
  const start = () =>
    create.mutate(
      {
        action: action.action,
        params,
        targets: kept.map(({ host, pci }) => ({ host, pci })),
        canary: pace.canary,
        growth: pace.growth,
        undo_on_stop: pace.undoOnStop,
        not_before: iso(pace.notBefore),
        not_after: iso(pace.notAfter),
        reason: pace.reason.trim(),
        incident_id: incident?.id ?? null,
      },
      { onSuccess: (rollout) => onStarted(rollout.id) },
    );
  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap={12}>
          <Panel title="Action">
            <Stack gap={10}>
              <Select
                label="Action"
                allowDeselect={false}
                data={offered.map((each) => ({ value: each.action, label: each.title }))}
                value={action.action}
                onChange={(value) => {
                  setErrors({});
                  onSearch({ ...search, action: value ?? action.action });
                }}
                description={action.description}
              />
              {incident && <PurposeNote purpose={purpose} />}
              <ParamFields
                action={action}
                values={values}
                errors={errors}
                disabled={create.isPending || dryRun.waiting}
                onChange={(next) => {
                  setEdited({ of: action.action, values: next });
                  setErrors({});
                }}
              />
              <ActionFacts
                action={action}
                reach={action.scope === "host" ? "Affects every RNIC on each host." : null}
              />
            </Stack>
          </Panel>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap={12}>
          <Panel
            title="Targets"
            aside={
              <Text size="xs" c="dimmed">
                {state.asOf === null ? "" : `fleet as of ${clock(takenAt)}`}
              </Text>
            }
            actions={
              <Button size="compact-xs" variant="default" onClick={() => setLooked((was) => was + 1)}>
                Refresh targets
              </Button>
            }
          >
            <QueryState query={{ ...query, data: state.asOf === null ? undefined : state.columns }} lines={6}>
              {(columns) => (
                <Stack gap={10}>
                  <FleetFilterBar
                    columns={columns}
                    shape={state.shape}
                    filters={filters}
                    onFilters={(next) =>
                      onSearch({
                        ...next,
                        ...(search.action ? { action: search.action } : {}),
                        ...(search.incident ? { incident: search.incident } : {}),
                      })
                    }
                  />
                  {agents.isError && <ProblemNotice error={agents.error} onRetry={() => void agents.refetch()} />}
                  <TargetPicker
                    all={all}
                    kept={kept}
                    left={left}
                    agents={agents.data}
                    filtered={isFiltered(filters)}
                    onLeave={leave}
                    onFirst={setFirst}
                  />
                </Stack>
              )}
            </QueryState>
          </Panel>
          <Panel title="Pace">
            <Stack gap={10}>
              <WaveFields pace={pace} problem={problem} onChange={setPace} />
            </Stack>
          </Panel>
          <Panel title="What will happen">
            <Stack gap={10}>
              {ready ? (
                <WhatWillHappen
                  action={action}
                  targets={kept}
                  canary={pace.canary}
                  growth={pace.growth}
                  undoOnStop={pace.undoOnStop}
                  control={control}
                  proposes={proposes}
                />
              ) : (
                <Text size="sm" c="dimmed">
                  No targets selected.
                </Text>
              )}
              {dryRun.error !== null && <ProblemNotice error={dryRun.error} />}
              {dryRun.remedy && kept[0] && (
                <div>
                  <Text size="sm" fw={600} mb={4}>
                    Dry run on {placeOf(kept[0])}, the canary
                  </Text>
                  <RemedyProgress remedy={dryRun.remedy} />
                </div>
              )}
              {create.isError && <ProblemNotice error={create.error} />}
              <Group justify="flex-end" gap={8}>
                <Text size="xs" c="dimmed" style={{ flex: 1 }} ta="right">
                  {missing}
                </Text>
                <Button
                  variant={dryRun.planned ? "default" : "filled"}
                  disabled={!ready}
                  loading={dryRun.waiting}
                  onClick={check}
                >
                  Dry run
                </Button>
                <Button disabled={missing !== null || problem !== null} loading={create.isPending} onClick={start}>
                  {proposes ? "Request approval" : "Start rollout"}
                </Button>
              </Group>
            </Stack>
          </Panel>
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

/** One remedy on many hosts: what, where, how, a dry run on the canary, and then it goes by itself. */
export function NewRolloutPage(props: Props) {
  const actions = useActions();
  const incident = useIncident(props.search.incident ?? null);
  // An incident that can't be read must not stand in the way of its remedy.
  const known =
    actions.data && !incident.isLoading ? { list: actions.data, incident: incident.data ?? null } : undefined;
  return (
    <Stack gap={12}>
      <Title order={1}>Roll out a remedy</Title>
      <QueryState query={{ ...actions, data: known }} lines={8}>
        {({ list, incident: whatFor }) => <NewRolloutForm {...props} actions={list} incident={whatFor} />}
      </QueryState>
    </Stack>
  );
}
