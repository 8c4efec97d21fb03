import { ActionIcon, Button, Group, Popover, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconChevronLeft, IconChevronRight, IconClock, IconLink, IconZoomOut } from "@tabler/icons-react";
import { useKeys } from "@/lib/keys";
import { asFixed, DEFAULT_RANGE, isFixed, rangeText, type RangeSearch, shift, zoomOut } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { RangeChoices } from "./RangeChoices";

interface Props {
  range: RangeSearch;
  onRange: (range: RangeSearch) => void;
}

/** The page's address with the minutes that it shows now, so that whoever opens it tomorrow sees the same. */
export function linkTo(href: string, range: RangeSearch, nowMs: number): string {
  const url = new URL(href);
  const { from, to } = asFixed(range, nowMs);
  url.searchParams.delete("range");
  url.searchParams.set("from", from ?? "");
  url.searchParams.set("to", to ?? "");
  return url.toString().replaceAll("%3A", ":");
}

/** Browsers offer the clipboard only to pages that came encrypted, and may refuse even then. */
async function copyLink(link: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(link);
    notifications.show({ message: "Link copied. It shows the minutes that you see now." });
  } catch {
    notifications.show({ title: "Copy this link", message: link, autoClose: false });
  }
}

/** The one time range of a page: ranges up to now, fixed ones, steps through time, and a link to the moment. */
export function TimePicker({ range, onRange }: Props) {
  const [opened, popover] = useDisclosure(false);
  const { time, clock } = useTimeFormat();
  const fixed = isFixed(range);
  const sameDay = time(range.from).slice(0, 10) === time(range.to).slice(0, 10);
  const label = fixed
    ? `${time(range.from)} – ${sameDay ? clock(range.to ?? "") : time(range.to)}`
    : rangeText(range.range ?? DEFAULT_RANGE);
  const earlier = () => onRange(shift(range, -1, Date.now()));
  const later = () => fixed && onRange(shift(range, 1, Date.now()));
  const out = () => onRange(zoomOut(range, Date.now()));
  const copy = () => void copyLink(linkTo(window.location.href, range, Date.now()));
  useKeys({ "[": earlier, "]": later, o: out, l: copy });
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Time range">
      <Tooltip label="Earlier ( [ )">
        <ActionIcon variant="default" size="md" aria-label="Earlier" onClick={earlier}>
          <IconChevronLeft size={15} />
        </ActionIcon>
      </Tooltip>
      <Popover opened={opened} onChange={popover.toggle} position="bottom-end" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <Button variant="default" leftSection={<IconClock size={14} />} onClick={popover.toggle} data-range={label}>
            {label}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <RangeChoices
            range={range}
            onRange={(next) => {
              popover.close();
              onRange(next);
            }}
          />
        </Popover.Dropdown>
      </Popover>
      <Tooltip label="Later ( ] )">
        <ActionIcon variant="default" size="md" aria-label="Later" disabled={!fixed} onClick={later}>
          <IconChevronRight size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Zoom out ( o, or double-click a chart )">
        <ActionIcon variant="default" size="md" aria-label="Zoom out" onClick={out}>
          <IconZoomOut size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Copy a link to this moment ( l )">
        <ActionIcon variant="default" size="md" aria-label="Copy a link to this moment" onClick={copy}>
          <IconLink size={15} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
