import { Group, MultiSelect, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useCatalogue, useSymptomChoices } from "@/lib/api/useCatalogue";
import { nameOf, type Draft } from "./draft";

interface Props {
  draft: Draft;
  isNew: boolean;
  onChange: (changes: Partial<Draft>) => void;
}

export const NAME = /^[a-z][a-z0-9-]{1,63}$/;

/** The policy's name and words: what people read when it is violated. */
export function WordFields({ draft, isNew, onChange }: Props) {
  const symptoms = useSymptomChoices();
  const catalogue = useCatalogue();
  const titled = (title: string) => onChange(isNew && draft.id === nameOf(draft.title) ? { title, id: nameOf(title) } : { title });
  return (
    <>
      <Group gap={10} grow align="flex-start">
        <TextInput label="Title" required maxLength={100} placeholder="A port that goes down comes up again" value={draft.title} onChange={(event) => titled(event.currentTarget.value)} />
        {isNew && <TextInput label="Name" required maxLength={64} description="Lower case letters, digits, dashes; it stays" error={draft.id && !NAME.test(draft.id) ? "Lower case letters, digits and dashes, at least two" : undefined} value={draft.id} onChange={(event) => onChange({ id: event.currentTarget.value })} />}
      </Group>
      <Textarea label="What a violation means" required maxLength={300} autosize minRows={1} placeholder="The port went down and did not come up within a minute." value={draft.violation} onChange={(event) => onChange({ violation: event.currentTarget.value })} />
      <Group gap={10} align="flex-end">
        <div>
          <SegmentedControl aria-label="Severity" value={draft.severity} onChange={(severity) => onChange({ severity: severity === "critical" ? "critical" : "warning" })} data={["warning", "critical"]} />
        </div>
        <MultiSelect label="Speaks for symptoms" w={260} value={draft.symptoms} data={symptoms.filter(({ value }) => /^S[1-8]$/.test(value))} onChange={(next) => onChange({ symptoms: next })} />
        <MultiSelect label="and causes" w={260} value={draft.causes} data={(catalogue.data?.causes ?? []).map(({ id, title }) => ({ value: id, label: `${id} ${title}` }))} onChange={(next) => onChange({ causes: next })} />
      </Group>
      {!isNew && <TextInput label="Why it changes" maxLength={200} placeholder="Kept with the version" value={draft.message} onChange={(event) => onChange({ message: event.currentTarget.value })} />}
    </>
  );
}
