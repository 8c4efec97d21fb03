import { Button, Group, Text } from "@mantine/core";
import { plural } from "@/lib/format";
import type { BulkAction } from "./bulk";
import classes from "./BulkBar.module.css";
import type { Selection } from "./useSelection";

interface Props {
  selection: Selection;
  shown: number;
  /** All matching the filters; undefined until it is known. */
  total: number | undefined;
  busy: boolean;
  onAction: (action: BulkAction) => void;
  onSilence: () => void;
}

/** What can be done with the selection. It floats over the list's foot, so that nothing moves when it appears. */
export function BulkBar({ selection, shown, total, busy, onAction, onSilence }: Props) {
  if (selection.ids.size === 0) return null;
  const more = total !== undefined && total > shown;
  const count = selection.all && total !== undefined ? total : selection.ids.size;
  return (
    <div className={classes["bar"]} role="toolbar" aria-label="Selected incidents">
      <Group gap={8}>
        <Text size="sm" fw={600} role="status">
          {selection.all ? `All ${plural(count, "incident")} matching` : `${plural(count, "incident")} selected`}
        </Text>
        {!selection.all && more && selection.ids.size === shown && (
          <Button variant="subtle" onClick={selection.selectAll}>
            Select all {total.toLocaleString("en")} matching
          </Button>
        )}
        <Button loading={busy} onClick={() => onAction("acknowledge")}>
          Acknowledge
        </Button>
        <Button variant="default" loading={busy} onClick={() => onAction("resolve")}>
          Resolve
        </Button>
        <Button variant="default" disabled={busy} onClick={() => onAction("reopen")}>
          Reopen
        </Button>
        <Button variant="default" disabled={busy} onClick={() => onAction("assign")}>
          Assign…
        </Button>
        <Button variant="default" disabled={busy} onClick={() => onAction("comment")}>
          Comment…
        </Button>
        <Button variant="default" disabled={busy} onClick={onSilence}>
          Silence…
        </Button>
        <Button variant="subtle" onClick={selection.clear}>
          Clear ( Esc )
        </Button>
      </Group>
    </div>
  );
}
