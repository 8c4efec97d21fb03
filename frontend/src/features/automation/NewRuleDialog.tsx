import { Group, Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { AutomationRule, Matcher, RemedyAction } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { MatcherRows } from "@/shared/matchers/MatcherRows";
import { NAMES } from "@/shared/matchers/matchers";
import { ParamFields } from "@/shared/remedies/order/ParamFields";
import { askedOf, initialValues, isOfPlan, type ParamValues, toParams, validate } from "@/shared/remedies/order/params";
import { useActions } from "@/shared/remedies/queries";
import { useChangeRules } from "./queries";
import { choosesSymptoms, RNIC_LABELS, TRIGGERS } from "./ruleText";

type Trigger = AutomationRule["trigger"];

const FIRST: Record<Trigger, Matcher> = {
  finding: { name: "symptom", op: "=", value: "" },
  decline: { name: "host", op: "=~", value: "" },
};

/** What of the action a rule's author fills in: its RNIC and its plan are found when the rule acts. */
function askedByRule(action: RemedyAction): RemedyAction {
  return isOfPlan(action) ? { ...action, params: [], at_least_one: [] } : askedOf(action, ["pci"]);
}

function choosesPlaces(trigger: Trigger, matchers: readonly Matcher[]): boolean {
  return trigger === "decline"
    ? matchers.some(({ op, value }) => value !== "" && !op.startsWith("!"))
    : choosesSymptoms(matchers);
}

/** A rule of the automatic mode: what it waits for, where, what it does, when. It is off until somebody switches it on. */
export function NewRuleDialog({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const change = useChangeRules();
  const [name, setName] = useState("");
  const [trigger, setTrigger] = useState<Trigger>("finding");
  const [actionId, setActionId] = useState<string | null>(null);
  const [values, setValues] = useState<ParamValues>({});
  const [matchers, setMatchers] = useState<Matcher[]>([FIRST.finding]);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  // A decline has no symptom yet: only another order of the masks can meet it.
  const choices = (actions.data ?? []).filter((each) => trigger === "finding" || isOfPlan(each));
  const chosen = choices.find((each) => each.action === actionId);
  const action = chosen && askedByRule(chosen);
  const errors = action ? validate(action, values) : {};
  const chooses = choosesPlaces(trigger, matchers);
  const complete =
    name.trim() !== "" &&
    action !== undefined &&
    Object.keys(errors).length === 0 &&
    chooses &&
    (from === "") === (to === "") &&
    (from === "" || from !== to);
  const choose = (found: RemedyAction | undefined) => {
    setActionId(found?.action ?? null);
    setValues(found ? initialValues(askedByRule(found), {}, "") : {});
  };
  const submit = () => {
    if (!complete || !action) return;
    const window = from === "" ? {} : { window_from: from, window_to: to };
    change.mutate(
      {
        kind: "create",
        body: {
          name: name.trim(),
          action: action.action,
          trigger,
          params: toParams(values),
          matchers,
          cooldown_s: 3600,
          ...window,
        },
      },
      { onSuccess: onClose },
    );
  };

  return (
    <FormDialog
      title="Add a rule"
      submit="Add"
      request={change}
      disabled={!complete}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label="Acts on"
        allowDeselect={false}
        data={[...TRIGGERS]}
        value={trigger}
        onChange={(value) => {
          const next = value === "decline" ? "decline" : "finding";
          setTrigger(next);
          setMatchers([FIRST[next]]);
          choose(next === "decline" ? actions.data?.find(isOfPlan) : undefined);
        }}
      />
      {trigger === "decline" ? (
        <MatcherRows title="RNICs where" labels={RNIC_LABELS} matchers={matchers} onChange={setMatchers} />
      ) : (
        <MatcherRows labels={NAMES} matchers={matchers} onChange={setMatchers} />
      )}
      <Text size="xs" c={chooses ? "dimmed" : "var(--ww-warn)"}>
        {trigger === "decline"
          ? "One condition must choose RNICs. The rule acts when a decline of 5% or more is predicted."
          : "One condition must choose symptoms or causes. Acknowledged and silenced incidents are skipped."}
      </Text>
      <Select
        label="Remedy"
        required
        data={choices.map((each) => ({ value: each.action, label: each.title }))}
        value={actionId}
        onChange={(value) => choose(choices.find((each) => each.action === value))}
      />
      {action && (
        <>
          <Text size="sm">
            {action.description} Risk: {action.risk_text}
          </Text>
          {chosen && isOfPlan(chosen) && (
            <Text size="sm">
              The plan is built from the flows at that moment. A plan that is not proven equivalent is not applied.
            </Text>
          )}
          <ParamFields action={action} values={values} errors={{}} disabled={false} onChange={setValues} />
        </>
      )}
      <Group grow align="flex-start">
        <TextInput
          type="time"
          label="From (UTC)"
          description="Empty: any time"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="time"
          label="To (UTC)"
          description="May span midnight"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
    </FormDialog>
  );
}
