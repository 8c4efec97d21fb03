import { Group, SegmentedControl, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { VF_USES, type VfView } from "./vfView";

const TYPING_MS = 200;

const USES = [
  { value: "all", label: "All" },
  { value: "used", label: "In use" },
  { value: "free", label: "Free" },
];

/** `/` puts the cursor into the text. */
export function VfFilter({ view, onView }: { view: VfView; onView: (view: VfView) => void }) {
  const [text, setText] = useState(view.vfText ?? "");
  useEffect(() => setText(view.vfText ?? ""), [view.vfText]);
  const search = useDebouncedCallback(
    (typed: string) => onView({ ...view, vfText: typed.trim() || undefined }),
    TYPING_MS,
  );
  return (
    <Group gap={8} role="search" aria-label="Filter virtual functions">
      <TextInput
        data-focus-filter
        aria-label="Filter virtual functions by text"
        placeholder="pod, address, PCI …  ( / )"
        w={220}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          search(event.currentTarget.value);
        }}
      />
      <SegmentedControl
        aria-label="Use of virtual functions"
        value={view.vfUse ?? "all"}
        onChange={(value) => onView({ ...view, vfUse: VF_USES.find((use) => use === value) })}
        data={USES}
      />
    </Group>
  );
}
