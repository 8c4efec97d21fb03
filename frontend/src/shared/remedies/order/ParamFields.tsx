import { NumberInput, Stack, Text, TextInput } from "@mantine/core";
import type { RemedyAction } from "@/lib/api/types";
import { type ParamValues, rangeText } from "./params";

interface Props {
  action: RemedyAction;
  values: ParamValues;
  errors: Record<string, string>;
  disabled: boolean;
  onChange: (values: ParamValues) => void;
}

export function ParamFields({ action, values, errors, disabled, onChange }: Props) {
  const set = (name: string, value: string | number) => onChange({ ...values, [name]: value });
  return (
    <Stack gap={10}>
      {action.params.map((param) => {
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
      {errors["_"] && (
        <Text size="sm" role="alert" style={{ color: "var(--ww-bad)" }}>
          {errors["_"]}
        </Text>
      )}
    </Stack>
  );
}
