import { MultiSelect, Select } from "@mantine/core";

export interface Choice {
  value: string;
  label: string;
}

/** Choices with how many incidents each would show; those that would show none stay, at the end. */
export function counted(choices: readonly Choice[], counts: Readonly<Record<string, number>> | undefined): Choice[] {
  if (!counts) return [...choices];
  const of = (choice: Choice) => counts[choice.value] ?? 0;
  return [...choices]
    .sort((a, b) => Number(of(b) > 0) - Number(of(a) > 0))
    .map((choice) => ({ value: choice.value, label: `${choice.label} (${of(choice).toLocaleString("en")})` }));
}

interface Props {
  label: string;
  choices: readonly Choice[];
  counts: Readonly<Record<string, number>> | undefined;
  width: number;
}

export function FacetSelect({
  label,
  choices,
  counts,
  width,
  value,
  onChange,
}: Props & { value: string | undefined; onChange: (value: string | undefined) => void }) {
  return (
    <Select
      aria-label={label}
      placeholder={label.toLowerCase()}
      clearable
      w={width}
      data={counted(choices, counts)}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      clearButtonProps={{ "aria-label": `Clear ${label.toLowerCase()}` }}
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
    />
  );
}

export function FacetMultiSelect({
  label,
  choices,
  counts,
  width,
  value,
  onChange,
}: Props & { value: string[]; onChange: (value: string[]) => void }) {
  return (
    <MultiSelect
      aria-label={label}
      placeholder={value.length > 0 ? undefined : label.toLowerCase()}
      clearable
      searchable
      hidePickedOptions
      miw={width}
      w={value.length > 0 ? undefined : width}
      maw={320}
      data={counted(choices, counts)}
      value={value}
      onChange={onChange}
      clearButtonProps={{ "aria-label": `Clear ${label.toLowerCase()}` }}
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
    />
  );
}
