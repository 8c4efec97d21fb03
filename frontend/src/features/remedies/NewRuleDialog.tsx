import { Group, Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { MatcherRows } from "@/features/silences/MatcherRows";
import type { Matcher } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { choosesSymptoms } from "./automation";
import { useChangeRules } from "./automationQueries";
import { ParamFields } from "./ParamFields";
import { askedOf, initialValues, isOfPlan, toParams, validate, type ParamValues } from "./params";
import { useActions } from "./queries";

/** A rule of the automatic mode: what, with which parameters, where, when. It is off until somebody switches it on. */
export function NewRuleDialog({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const change = useChangeRules();
  const [name, setName] = useState("");
  const [actionId, setActionId] = useState<string | null>(null);
  const [values, setValues] = useState<ParamValues>({});
  const [matchers, setMatchers] = useState<Matcher[]>([{ name: "symptom", op: "=", value: "" }]);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const choices = (actions.data ?? []).filter((each) => !isOfPlan(each));
  const chosen = choices.find((each) => each.action === actionId);
  const action = chosen && askedOf(chosen, ["pci"]);
  const errors = action ? validate(action, values) : {};
  const complete = name.trim() !== "" && action !== undefined && Object.keys(errors).length === 0 && choosesSymptoms(matchers) && (from === "") === (to === "") && (from === "" || from !== to);

  const submit = () => {
    if (!complete || !action) return;
    const window = from === "" ? {} : { window_from: from, window_to: to };
    change.mutate({ kind: "create", body: { name: name.trim(), action: action.action, params: toParams(values), matchers, cooldown_s: 3600, ...window } }, { onSuccess: onClose });
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
      <TextInput label="Name" required data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <MatcherRows matchers={matchers} onChange={setMatchers} />
      <Text size="xs" c={choosesSymptoms(matchers) ? "dimmed" : "var(--ww-warn)"}>
        One condition must choose symptoms or causes. Incidents that somebody has acknowledged or silenced are left alone.
      </Text>
      <Select
        label="Remedy"
        required
        data={choices.map((each) => ({ value: each.action, label: each.title }))}
        value={actionId}
        onChange={(value) => {
          setActionId(value);
          const found = choices.find((each) => each.action === value);
          setValues(found ? initialValues(askedOf(found, ["pci"]), {}, "") : {});
        }}
      />
      {action && (
        <>
          <Text size="sm">
            {action.description} Risk: {action.risk_text}
          </Text>
          <ParamFields action={action} values={values} errors={{}} disabled={false} onChange={setValues} />
        </>
      )}
      <Group grow align="flex-start">
        <TextInput type="time" label="From (UTC)" description="Empty: at any time" value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
        <TextInput type="time" label="To (UTC)" description="May be over midnight" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      </Group>
    </FormDialog>
  );
}
