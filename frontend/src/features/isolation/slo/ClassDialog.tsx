import { Group, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { SloClass } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { type ClassDraft, problemsOf, toBody, toDraft } from "./classDraft";
import { useChangeClass } from "./queries";

interface Props {
  /** The class to edit; null creates one. */
  known: SloClass | null;
  classes: readonly SloClass[];
  onClose: () => void;
}

const NUMBERS = [
  [
    {
      name: "min",
      label: "Guaranteed",
      unit: "Mbit/s",
      description: "What the VF always gets when it asks for it",
      required: true,
    },
    { name: "max", label: "At most", unit: "Mbit/s", description: "Above it nothing is promised", required: true },
  ],
  [
    { name: "p50", label: "Delay, median", unit: "µs", description: "Empty: not promised", required: false },
    { name: "p99", label: "Delay, 99th percentile", unit: "µs", description: "Empty: not promised", required: false },
    { name: "lossPercent", label: "Loss", unit: "%", description: "Of packets; empty: not promised", required: false },
  ],
] as const;

/** One SLO class: an envelope for each direction, and bounds of delay and loss. */
export function ClassDialog({ known, classes, onClose }: Props) {
  const [draft, setDraft] = useState<ClassDraft>(() => toDraft(known));
  const [shown, setShown] = useState(false);
  const change = useChangeClass();
  const taken = known ? [] : classes.map((each) => each.name);
  const problems = problemsOf(draft, taken);
  const errors = shown ? problems : {};
  const set = (changes: Partial<ClassDraft>) => setDraft({ ...draft, ...changes });
  const submit = () => {
    setShown(true);
    if (Object.keys(problems).length > 0) return;
    const body = toBody(draft);
    change.mutate(known ? { kind: "update", body, version: known.version } : { kind: "create", body }, {
      onSuccess: onClose,
    });
  };
  return (
    <FormDialog
      title={known ? `Edit SLO class ${known.name}` : "New SLO class"}
      submit={known ? "Save" : "Create class"}
      request={change}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextInput
        label="Name"
        description="As CNI configurations write it in wallwatch.io/slo"
        required
        disabled={known !== null}
        placeholder="such as gold"
        value={draft.name}
        error={errors.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {NUMBERS.map((fields) => (
        <Group key={fields[0].name} gap={10} align="flex-start" grow>
          {fields.map(({ name, label, unit, description, required }) => (
            <NumberInput
              key={name}
              label={`${label} (${unit})`}
              description={description}
              required={required}
              min={0}
              thousandSeparator=","
              value={draft[name]}
              error={errors[name]}
              onChange={(value) => set({ [name]: value })}
            />
          ))}
        </Group>
      ))}
      <Textarea
        label="Description"
        rows={2}
        maxLength={1000}
        value={draft.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </FormDialog>
  );
}
