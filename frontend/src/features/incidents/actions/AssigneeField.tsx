import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useAssignees } from "../assignees";

const TYPING_MS = 200;

interface Props {
  value: string;
  onChange: (name: string) => void;
  description?: string;
}

/** A name of somebody who can sign in; those that fit what is typed are offered. */
export function AssigneeField({ value, onChange, description }: Props) {
  const part = value.trim().toLowerCase();
  const [asked] = useDebouncedValue(part, TYPING_MS);
  const known = useAssignees(asked);
  const nobody = asked === part && asked !== "" && known.data?.items.length === 0;
  return (
    <Autocomplete
      label="Assignee"
      description={description ?? "An account that can sign in"}
      data-autofocus
      autoComplete="off"
      value={value}
      onChange={onChange}
      data={known.data?.items ?? []}
      // The server has selected them already.
      filter={({ options }) => options}
      error={nobody ? "No account that can sign in has this in its name" : undefined}
      maxDropdownHeight={220}
      // It would cover the button that sends the form.
      openOnFocus={false}
    />
  );
}
