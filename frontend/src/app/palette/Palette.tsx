import "@/lib/ui/mantineMore.css";
import { Modal } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconAlertTriangle, IconBolt, IconBox, IconCpu, IconFile, IconSearch, IconServer2 } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { type Destination, type Entry, groupsOf, type Kind, RECENT_KEY, withRecent } from "./entries";
import classes from "./Palette.module.css";
import { useActions } from "./useActions";
import { usePaletteSearch } from "./usePaletteSearch";

const ICONS: Record<Kind, typeof IconFile> = {
  page: IconFile,
  action: IconBolt,
  rnic: IconCpu,
  host: IconServer2,
  pod: IconBox,
  incident: IconAlertTriangle,
};

interface Props {
  onClose: () => void;
  onHelp: () => void;
}

/** Goes anywhere by a few letters: pages, actions, RNICs, hosts, pods, incidents. Keyboard first, recent ones before all. */
export function Palette({ onClose, onHelp }: Props) {
  const router = useRouter();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  /** Enter was pressed before the answer came: the first result opens as soon as it is there. */
  const [eager, setEager] = useState(false);
  const [recent, setRecent] = useLocalStorage<Destination[]>({
    key: RECENT_KEY,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const actions = useActions(onHelp);
  const { found, settled, error } = usePaletteSearch(text);
  const groups = groupsOf(text, { recent, actions, found });
  const entries = groups.flatMap((group) => group.entries);
  const waiting = text.trim() !== "" && !settled;

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    if (entry.kind === "action") return entry.run();
    setRecent((before) => withRecent(before, entry));
    router.history.push(entry.href);
  };
  const openFirst = useEffectEvent(() => {
    setEager(false);
    choose(entries[0]);
  });
  useEffect(() => {
    if (eager && !waiting) openFirst();
  }, [eager, waiting]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const onKeyDown = (event: KeyboardEvent) => {
    const last = entries.length - 1;
    const to: Record<string, number> = {
      ArrowDown: active >= last ? 0 : active + 1,
      ArrowUp: active <= 0 ? last : active - 1,
      Home: 0,
      End: last,
    };
    const next = to[event.key];
    if (next !== undefined && !(text !== "" && (event.key === "Home" || event.key === "End"))) {
      event.preventDefault();
      setActive(Math.max(0, next));
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (waiting && active === 0) setEager(true);
      else choose(entries[active]);
    }
  };

  let index = -1;
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size={620}
      padding={0}
      yOffset="12vh"
      centered={false}
      // Its name for screen readers; the field says the same to everybody else.
      title="Search and go to"
      styles={{ header: { display: "none" } }}
    >
      <label className={classes["field"]}>
        <IconSearch size={18} stroke={1.6} aria-hidden />
        <input
          data-autofocus
          className={classes["input"]}
          role="combobox"
          aria-label="Search"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length > 0 ? `${id}-${active}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Page, RNIC, host, pod, incident or action"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
            setEager(false);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className={classes["list"]}>
        {groups.map(({ label, entries: members }) => (
          <div key={label} role="group" aria-label={label}>
            <div aria-hidden className={classes["group"]}>
              {label}
            </div>
            {members.map((entry) => {
              const at = ++index;
              const Icon = ICONS[entry.kind];
              return (
                <div
                  key={entry.kind === "action" ? entry.label : entry.href}
                  id={`${id}-${at}`}
                  role="option"
                  aria-selected={at === active}
                  className={classes["option"]}
                  onMouseMove={() => setActive(at)}
                  onClick={() => choose(entry)}
                >
                  <Icon size={16} stroke={1.6} aria-hidden />
                  <span className={classes["label"]}>{entry.label}</span>
                  <span className={classes["detail"]}>{entry.detail}</span>
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <div role="status" className={classes["status"]}>
        {error && text.trim() !== ""
          ? "The server does not answer: only pages and actions are listed."
          : waiting
            ? "Searching…"
            : entries.length === 0
              ? `Nothing matches “${text.trim()}”.`
              : "↑ ↓ to choose, Enter to open, Esc to close"}
      </div>
    </Modal>
  );
}
