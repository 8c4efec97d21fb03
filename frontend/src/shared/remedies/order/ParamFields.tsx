import { Anchor, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { RemedyAction } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { type ParamValues, rangeText } from "./params";

interface Props {
  action: RemedyAction;
  values: ParamValues;
  errors: Record<string, string>;
  disabled: boolean;
  onChange: (values: ParamValues) => void;
}

/** The parameters with a value, and those that need one; the others are one click away, unless none but the PCI address has any. */
function useShown(action: RemedyAction, values: ParamValues, errors: Props["errors"]) {
  // Decided once for each action: a field must not go away while it is emptied.
  const [state, setState] = useState({ action: "", first: [] as string[], all: false });
  if (state.action !== action.action) {
    const given = ({ name }: { name: string }) => values[name] !== undefined && values[name] !== "";
    const first = action.params.filter((param) => param.required || given(param)).map(({ name }) => name);
    setState({
      action: action.action,
      first,
      all: !action.params.some((param) => param.name !== "pci" && given(param)),
    });
  }
  const shown = action.params.filter(({ name }) => state.all || state.first.includes(name) || errors[name]);
  return { shown, showAll: () => setState({ ...state, all: true }) };
}

export function ParamFields({ action, values, errors, disabled, onChange }: Props) {
  const set = (name: string, value: string | number) => onChange({ ...values, [name]: value });
  const { shown, showAll } = useShown(action, values, errors);
  const hidden = action.params.length - shown.length;
  return (
    <Stack gap={10}>
      {shown.map((param) => {
        const range = rangeText(param);
        const common = {
          label: param.label,
          description: `${param.meaning}${range ? ` · ${range}` : ""}`,
          error: errors[param.name],
          disabled,
          required: param.required,
        };
        return param.type === "integer" ? (
          <NumberInput
            key={param.name}
            {...common}
            value={values[param.name] ?? ""}
            onChange={(value) => set(param.name, value)}
            allowDecimal={false}
            thousandSeparator=","
            suffix={param.unit && param.unit !== "none" ? ` ${param.unit}` : ""}
            placeholder={param.required ? undefined : "unchanged"}
            step={param.maximum !== null && param.maximum > 100_000 ? 1000 : 1}
          />
        ) : (
          <TextInput
            key={param.name}
            {...common}
            value={String(values[param.name] ?? "")}
            onChange={(event) => set(param.name, event.currentTarget.value)}
          />
        );
      })}
      {hidden > 0 && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          mih={24}
          onClick={showAll}
          style={{ alignSelf: "flex-start" }}
        >
          {plural(hidden, "other parameter")}, unchanged
        </Anchor>
      )}
      {errors["_"] && (
        <Text size="sm" role="alert" style={{ color: "var(--ww-bad)" }}>
          {errors["_"]}
        </Text>
      )}
    </Stack>
  );
}
