import { Button, Checkbox, Code, Menu, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBookmark, IconCheck, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { fromSearch, type IncidentFilters, toSearch } from "./filters";
import { useChangeViews, useViews } from "./views";

interface SaveProps {
  query: string;
  mine: readonly { id: string; name: string }[];
  onClose: () => void;
}

/** A name that the reader has used already takes these filters; nobody wants two views of one name. */
function SaveViewDialog({ query, mine, onClose }: SaveProps) {
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
        if (name.trim())
          change.mutate(
            known ? { kind: "update", id: known.id, query } : { kind: "save", name: name.trim(), query, shared },
            { onSuccess: onClose },
          );
      }}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        description={known ? "You already have a view with this name; its filters will be replaced." : undefined}
      />
      {!known && (
        <Checkbox label="Shared" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
      )}
      <Text size="xs" c="dimmed">
        Filters: {query ? <Code>{decodeURIComponent(query)}</Code> : "none (all unresolved)"}
      </Text>
    </FormDialog>
  );
}

const BUILT_IN: readonly { name: string; filters: IncidentFilters }[] = [
  { name: "Unresolved", filters: {} },
  { name: "Critical, unassigned", filters: { severity: "critical", unassigned: "yes" } },
  { name: "Mine", filters: { assignee: "me" } },
  { name: "Wider than one host", filters: { scope: "rack" } },
];

interface Props {
  filters: IncidentFilters;
  onFilters: (filters: IncidentFilters) => void;
}

/** Filters by name: those that come with the product, the reader's own, and what others share. */
export function SavedViews({ filters, onFilters }: Props) {
  const views = useViews();
  const change = useChangeViews();
  const [saving, dialog] = useDisclosure(false);
  const here = toSearch(filters);
  const items = views.data ?? [];
  const current = [...BUILT_IN.map((view) => ({ name: view.name, query: toSearch(view.filters) })), ...items].find(
    (view) => view.query === here,
  )?.name;
  const mark = (query: string) =>
    query === here ? (
      <IconCheck size={14} aria-label="Shown now" />
    ) : (
      <span style={{ width: 14, display: "inline-block" }} />
    );
  const section = (title: string, list: typeof items) =>
    list.length > 0 && (
      <>
        <Menu.Label>{title}</Menu.Label>
        {list.map((view) => (
          <Menu.Item
            key={view.id}
            leftSection={mark(view.query)}
            rightSection={
              view.owner && !view.mine ? (
                <Text size="xs" c="dimmed">
                  {view.owner}
                </Text>
              ) : undefined
            }
            onClick={() => onFilters(fromSearch(view.query))}
          >
            {view.name}
            {view.mine && view.shared ? " (shared)" : ""}
          </Menu.Item>
        ))}
      </>
    );
  const own = items.find((view) => view.mine && view.query === here);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={14} />}>
            {current ? `View: ${current}` : "Views"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Built-in</Menu.Label>
          {BUILT_IN.map((view) => (
            <Menu.Item
              key={view.name}
              leftSection={mark(toSearch(view.filters))}
              onClick={() => onFilters(view.filters)}
            >
              {view.name}
            </Menu.Item>
          ))}
          {section(
            "Mine",
            items.filter((view) => view.mine),
          )}
          {section(
            "Shared by others",
            items.filter((view) => !view.mine),
          )}
          {views.error && <Menu.Label>Saved views are unavailable right now.</Menu.Label>}
          <Menu.Divider />
          <Menu.Item onClick={dialog.open}>Save these filters as a view…</Menu.Item>
          {own && (
            <Menu.Item
              leftSection={<IconTrash size={14} />}
              onClick={() => change.mutate({ kind: "delete", id: own.id })}
            >
              Delete the view “{own.name}”
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {saving && <SaveViewDialog query={here} mine={items.filter((view) => view.mine)} onClose={dialog.close} />}
    </>
  );
}
