import { Group, MultiSelect, Select, Stack, Text, TextInput } from "@mantine/core";
import type { EventKind, PolicyBinding, PolicyProblem } from "@/lib/api/types";
import { type Draft, fieldsOf, kindChoices } from "./draft";

interface RowProps {
  name: string;
  binding: PolicyBinding;
  kinds: readonly EventKind[];
  subject: Draft["subject"];
  problem: string | undefined;
  onChange: (binding: PolicyBinding) => void;
}

/** Text as the field has it: `true` and `false` are no text there. */
function valueOf(text: string, values: readonly (string | boolean)[]): string | boolean {
  return values.find((value) => String(value) === text) ?? text;
}

function Condition({ name, binding, kinds, onChange }: Pick<RowProps, "name" | "binding" | "kinds" | "onChange">) {
  const fields = fieldsOf(kinds, binding.kind);
  const [field, value] = Object.entries(binding.when ?? {})[0] ?? [];
  const values = fields.find((each) => each.field === field)?.values ?? [];
  if (fields.length === 0) return null;
  return (
    <Group gap={4} wrap="nowrap" align="flex-end">
      <Select
        aria-label={`${name}: only with`}
        placeholder="any"
        clearable
        w={120}
        value={field ?? null}
        data={fields.map((each) => each.field)}
        onChange={(next) =>
          onChange({
            ...binding,
            when: next ? { [next]: fields.find((each) => each.field === next)?.values[0] ?? "" } : {},
          })
        }
      />
      {field !== undefined &&
        (values.length > 0 ? (
          <Select
            aria-label={`${name}: value of ${field}`}
            w={120}
            allowDeselect={false}
            value={String(value)}
            data={values.map(String)}
            onChange={(next) => onChange({ ...binding, when: { [field]: valueOf(next ?? "", values) } })}
          />
        ) : (
          <TextInput
            aria-label={`${name}: value of ${field}`}
            w={140}
            value={String(value)}
            onChange={(event) => onChange({ ...binding, when: { [field]: event.currentTarget.value } })}
          />
        ))}
    </Group>
  );
}

function Row({ name, binding, kinds, subject, problem, onChange }: RowProps) {
  return (
    <Group gap={8} align="flex-start" wrap="nowrap" data-proposition={name}>
      <Text size="sm" w={130} pt={5} style={{ fontFamily: "var(--ww-mono)", overflowWrap: "anywhere", flex: "none" }}>
        {name}
      </Text>
      <MultiSelect
        aria-label={`Events that set ${name}`}
        placeholder={binding.kind.length === 0 ? "Choose events" : undefined}
        searchable
        hidePickedOptions
        style={{ flex: 1 }}
        error={problem}
        value={binding.kind}
        data={kindChoices(kinds, subject)}
        onChange={(kind) => onChange({ ...binding, kind })}
      />
      <Condition name={name} binding={binding} kinds={kinds} onChange={onChange} />
    </Group>
  );
}

interface Props {
  rows: readonly string[];
  draft: Draft;
  kinds: readonly EventKind[];
  problems: readonly PolicyProblem[];
  onChange: (propositions: Draft["propositions"]) => void;
}

/** Which events set each proposition of the formula. */
export function BindingRows({ rows, draft, kinds, problems, onChange }: Props) {
  const of = (name: string) =>
    problems.find(({ proposition, kind }) => proposition === name && (kind === "unbound" || kind === "binding"))
      ?.message;
  return (
    <Stack gap={6} role="group" aria-label="Propositions">
      <Text size="sm" fw={500}>
        Propositions and the events that set them
      </Text>
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          Names in the formula appear here.
        </Text>
      )}
      {rows.map((name) => (
        <Row
          key={name}
          name={name}
          binding={draft.propositions[name] ?? { kind: [] }}
          kinds={kinds}
          subject={draft.subject}
          problem={of(name)}
          onChange={(binding) => onChange({ ...draft.propositions, [name]: binding })}
        />
      ))}
    </Stack>
  );
}
