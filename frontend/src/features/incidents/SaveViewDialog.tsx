import { Checkbox, Code, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useChangeViews } from "./views";

interface Props {
  query: string;
  mine: readonly { id: string; name: string }[];
  onClose: () => void;
}

/** A name that the reader has used already takes these filters; nobody wants two views of one name. */
export function SaveViewDialog({ query, mine, onClose }: Props) {
  const change = useChangeViews();
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const known = mine.find((view) => view.name === name.trim());
  return (
    <FormDialog
      title="Save these filters as a view"
      submit={known ? "Replace" : "Save"}
      request={change}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) change.mutate(known ? { kind: "update", id: known.id, query } : { kind: "save", name: name.trim(), query, shared }, { onSuccess: onClose });
      }}
    >
      <TextInput label="Name" required data-autofocus maxLength={100} value={name} onChange={(event) => setName(event.currentTarget.value)} description={known ? "You have a view of this name; its filters will be replaced." : undefined} />
      {!known && <Checkbox label="Others see it too" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />}
      <Text size="xs" c="dimmed">
        Filters: {query ? <Code>{decodeURIComponent(query)}</Code> : "none, all that is unresolved"}
      </Text>
    </FormDialog>
  );
}
