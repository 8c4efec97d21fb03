import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { NewRemedy, RemedyAction } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { newKey } from "@/lib/orderKey";
import { isOver } from "@/lib/states";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useCreateRemedy, useRemedy } from "../queries";
import { ActionFacts } from "./ActionFacts";
import { ParamFields } from "./ParamFields";
import { askedOf, initialValues, type ParamValues, type StartValues, toParams, validate } from "./params";
import type { PurposeFor } from "./purpose";
import { PurposeNote } from "./PurposeNote";
import { RemedyProgress } from "./RemedyProgress";

interface Props {
  actions: readonly RemedyAction[];
  host: string;
  pci: string;
  /** The action to start with; without it, the one that an incident suggests. */
  initialAction?: string;
  purposeFor: PurposeFor;
  /** Parameters that are already set; what the server fills in is not shown either. */
  fixed?: Readonly<Record<string, string>>;
  /** What parameters start with, before what the incident suggests. */
  start?: StartValues;
  onApplied: (id: string) => void;
}

/** The buttons stay in view: a dialog with four parameters is higher than most screens. */
const FOOTER = {
  position: "sticky",
  bottom: 0,
  background: "var(--ww-panel)",
  borderTop: "1px solid var(--ww-line)",
  zIndex: 1,
} as const;

/** Nothing is applied before its dry run was shown, on top of all; a changed parameter asks for a new one. */
export function RemedyForm({ actions, host, pci, initialAction, purposeFor, fixed, start, onApplied }: Props) {
  const [name, setName] = useState(
    () => initialAction ?? actions.find((each) => purposeFor(each.action))?.action ?? actions[0]?.action ?? "",
  );
  // Taken once for each action: what was planned must not change when the incident does.
  const [purpose, setPurpose] = useState(() => purposeFor(name));
  const found = actions.find((each) => each.action === name);
  // Of a plan the server knows all but its name.
  const action =
    found && fixed
      ? askedOf(
          found,
          found.params.map((param) => param.name),
        )
      : found;
  const [edited, setEdited] = useState<ParamValues | null>(null);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [planId, setPlanId] = useState<string | null>(null);
  const plan = useRemedy(planId);
  const states = useStates("remedy");
  const create = useCreateRemedy();
  const pending = useRef<{ body: string; key: string } | null>(null);
  const top = useRef<HTMLDivElement>(null);
  const planned = plan.data?.state === "planned";
  useEffect(() => {
    // The dry run was requested from below; its result stands on top.
    if (planned) top.current?.scrollIntoView({ block: "center" });
  }, [planned]);
  if (!action)
    return (
      <EmptyState title="No remedies available">The agents of this fleet report no actions; update them.</EmptyState>
    );
  const values = edited ?? initialValues(action, { ...purpose?.suggestion?.params, ...start?.params }, pci);
  const change = (next: ParamValues) => {
    setEdited(next);
    setPlanId(null);
    setErrors({});
  };
  const order = (mode: NewRemedy["mode"]) => {
    const problems = validate(action, values);
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    const body: NewRemedy = {
      action: action.action,
      host,
      pci: pci || null,
      params: { ...toParams(values), ...fixed },
      mode,
      propose: false,
      ...(purpose ? { incident_id: purpose.incident.id } : {}),
    };
    // The same order pressed again after a lost answer keeps its key; an answered one gets a new key next time.
    const text = JSON.stringify(body);
    if (pending.current?.body !== text) pending.current = { body: text, key: newKey() };
    create.mutate(
      { order: body, key: pending.current.key },
      {
        onSuccess: (remedy) => {
          pending.current = null;
          if (mode === "dry_run") setPlanId(remedy.id);
          else onApplied(remedy.id);
        },
      },
    );
  };
  const waiting = planId !== null && (plan.data === undefined || !isOver(states, plan.data.state));
  return (
    <Stack gap={12}>
      <div ref={top} hidden={planId === null || !plan.data}>
        {planId !== null && plan.data && <RemedyProgress remedy={plan.data} />}
      </div>
      <Select
        label="Action"
        data={actions.map((each) => ({ value: each.action, label: each.title }))}
        value={name}
        allowDeselect={false}
        onChange={(value) => {
          const next = value ?? name;
          setName(next);
          setPurpose(purposeFor(next));
          setEdited(null);
          setPlanId(null);
          setErrors({});
        }}
        description={action.description}
      />
      <PurposeNote purpose={purpose} />
      {start?.why && (
        <Text size="sm">
          <b>Recommended value.</b> {start.why}
        </Text>
      )}
      <ParamFields
        action={action}
        values={values}
        errors={errors}
        disabled={create.isPending || waiting}
        onChange={change}
      />
      <ActionFacts action={action} reach={action.scope === "host" ? `Affects every RNIC on ${host}.` : null} />
      {create.isError && <ProblemNotice error={create.error} />}
      {plan.isError && <ProblemNotice error={plan.error} onRetry={() => void plan.refetch()} />}
      <Group justify="space-between" gap={8} py={10} wrap="nowrap" style={FOOTER}>
        <Text size="xs" c="dimmed">
          {planned
            ? "This is exactly what changes. Nothing was changed yet."
            : `The dry run shows the exact operations; then you can ${action.needs_approval ? "request approval" : "apply them"}.`}
        </Text>
        <Group gap={8} wrap="nowrap">
          <Button
            variant={planned ? "default" : "filled"}
            loading={(create.isPending && !planned) || waiting}
            onClick={() => order("dry_run")}
          >
            Dry run
          </Button>
          <Button disabled={!planned} loading={create.isPending && planned} onClick={() => order("apply")}>
            {action.needs_approval ? "Request approval" : "Apply"}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}
